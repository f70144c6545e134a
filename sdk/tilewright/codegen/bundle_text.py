"""What the templates of a bundle's own files print."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.codegen.build_names import cmake_name
from tilewright.codegen.constant_array import ConstantArray
from tilewright.codegen.interface import Interface
from tilewright.codegen.network_text import FastMemory, Level, NetworkText


@dataclass(frozen=True)
class StateText:
    """A state of the bundle: where it lies, and whose it is."""

    index: int
    offset: int
    size_bytes: int
    comment: str


@dataclass(frozen=True)
class BundleText:
    """The memory and the constants of several networks. `sections` are those networks, `bases` where each one's arena
    begins in the common one. `fast` holds the tiles of all. `settling`: some network keeps constants where others
    write. `more` are C files, without their ending, that the caller puts beside these.
    """

    name: str
    upper: str
    tool: str
    networks: tuple[NetworkText, ...]
    bases: tuple[int, ...]
    arena_bytes: int
    align: int
    state_bytes: int
    states: tuple[StateText, ...]
    constant_bytes: int
    levels: tuple[Level, ...]
    constants: tuple[ConstantArray, ...]
    needs_math: bool
    binary: bool
    flags: str
    cmake_flags: str
    concurrent: tuple[tuple[str, str], ...]
    fast: FastMemory | None = None
    settling: bool = False
    more: tuple[str, ...] = ()

    def interface(self, network: NetworkText) -> Interface:
        """How one of the networks is called."""
        alone = network.interface
        others_bytes = self.arena_bytes + self.state_bytes - alone.arena_bytes - alone.state_bytes
        return replace(
            alone,
            kit=self.name,
            arena_bytes=self.arena_bytes,
            state_bytes=self.state_bytes,
            align=self.align,
            foreign_ram_bytes=max(0, others_bytes),
            foreign_constant_bytes=max(0, self.constant_bytes - network.constant_bytes) if self.binary else 0,
        )

    @property
    def cmake(self) -> str:
        """Name of the CMake target."""
        return cmake_name(self.name)

    @property
    def summary(self) -> str:
        """One line on all of it."""
        return (
            f"{len(self.networks)} networks, {self.arena_bytes} bytes of arena, {self.state_bytes} of state, "
            f"{self.constant_bytes} of constants"
        )

    @property
    def stateful(self) -> tuple[NetworkText, ...]:
        """The networks that keep something from call to call."""
        return tuple(one for one in self.networks if one.states is not None)
