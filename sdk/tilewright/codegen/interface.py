"""What calls a generated project: the facts of its public header as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interface:
    """Bytes of each input and output of a model.

    `takes_pointers` says that inputs and outputs are the caller's memory. `blobs` are the bytes of weights that are
    loaded at run time, `state_bytes` live from call to call. `context`: every call takes an instance, whose first
    `arena_bytes` are the arena, a multiple of `align`. `streamed` are rows and planes of every input where the inputs
    are handed over by rows. `kit` is the prefix of a bundle whose memory the network uses, empty where it has its own;
    of that memory `foreign_ram_bytes`, and of an assembler file with the constants of all `foreign_constant_bytes`,
    are of no use to this network. `build` is the number of
    this compilation of one network, as its header has it. `cores_read` says that the cores of a cluster read constants
    where they rest.
    """

    model: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    takes_pointers: bool = False
    blobs: tuple[int, ...] = ()
    context: bool = False
    arena_bytes: int = 0
    state_bytes: int = 0
    align: int = 1
    kit: str = ""
    foreign_ram_bytes: int = 0
    foreign_constant_bytes: int = 0
    streamed: tuple[tuple[int, int], ...] = ()
    build: int = 0
    cores_read: bool = False

    @property
    def upper(self) -> str:
        """What the model's macros begin with."""
        return self.model.upper()

    @property
    def owner(self) -> str:
        """The prefix of arena and states."""
        return self.kit or self.model

    @property
    def trace_macro(self) -> str:
        """The macro under which the code calls the trace function."""
        return f"{self.upper}_TRACE"
