"""What the templates of a network's files print, as typed values."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.blob import Blob
from tilewright.codegen.build_names import cmake_name
from tilewright.codegen.constant_array import ConstantArray
from tilewright.codegen.interface import Interface
from tilewright.codegen.limits import Limits
from tilewright.codegen.pointers import memories_of
from tilewright.codegen.states import StatesText
from tilewright.codegen.tiled import HEADER


@dataclass(frozen=True)
class Level:
    """One memory level in the header: worst-case bytes, what they are, and the target's size.

    `stack` is true for the level that holds the stack, of which only a build tells the bytes.
    """

    name: str
    macro: str
    worst_case: int
    size: int | None
    parts: str
    stack: bool


@dataclass(frozen=True)
class Port:
    """One input or output of the network as the header describes it.

    Of an input that is handed over by rows: how many there are, and in how many planes the model has them.
    """

    index: int
    c_type: str
    pointer: str
    comment: str
    size_bytes: int
    elements: int
    shape: tuple[int, ...]
    scale: str | None
    zero_point: int
    rows: int = 0
    planes: int = 0


@dataclass(frozen=True)
class CallLine:
    """The statements of one instruction in `run`; none where its operands and results are the same bytes.

    With a `guard`, a condition in C, they are only reached where it holds; those that come `first` always are.
    """

    index: int
    statements: tuple[str, ...]
    comment: str
    guard: str = ""
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class Slice:
    """Steps of one call of `run_some`, with their instructions as the kernels estimate them."""

    lines: tuple[CallLine, ...]
    instructions: int


@dataclass(frozen=True)
class BlobText:
    """A region's weights outside of the code: their layout, their name in a comment, and the identity in two words."""

    blob: Blob
    comment: str
    low: int
    high: int


@dataclass(frozen=True)
class FastMemory:
    """The compute level that schedules fill: its array, its macro, bytes, alignment and section. `words` of it, at its
    end, may be pointers, which are larger where a host plays the cluster.
    """

    name: str
    macro: str
    size_bytes: int
    align: int
    section: str
    words: int = 0

    @property
    def size(self) -> str:
        """Bytes of the array, in C."""
        return f"{self.size_bytes}u + {self.words}u * (sizeof(void *) - 4u)" if self.words else str(self.size_bytes)


@dataclass(frozen=True)
class NetworkText:
    """Everything that the templates print but for the number of the build, which comes of their texts.

    `binary`: the constants are a binary file, and an assembler file takes it in. `kit` names the bundle whose memory
    and constants the network shares, empty where it stands alone. `text`: a tokeniser and a sampler lie beside it.
    """

    name: str
    upper: str
    tool: str
    sha256: str
    summary: str
    arena_bytes: int
    align: int
    constant_bytes: int
    levels: tuple[Level, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    io: str
    run_parameters: str
    unused_parameters: tuple[str, ...]
    pointers: tuple[str, ...]
    constants: tuple[ConstantArray, ...]
    needs_math: bool
    halves: bool
    sources: tuple[str, ...]
    functions: tuple[str, ...]
    calls: tuple[CallLine, ...]
    limits: Limits
    flags: str
    cmake_flags: str
    blobs: tuple[BlobText, ...] = ()
    runtime_bytes: int = 0
    fast: FastMemory | None = None
    context: bool = False
    binary: bool = False
    states: StatesText | None = None
    kit: str = ""
    text: bool = False
    run_arguments: tuple[str, ...] = ()
    slices: tuple[Slice, ...] = ()
    cores_read: bool = False

    @property
    def slice_parameters(self) -> str:
        """The parameters of `run_some`: those of `run`, and where it goes on."""
        return ("" if self.run_parameters == "void" else f"{self.run_parameters}, ") + "int *step"

    @property
    def owner(self) -> str:
        """The prefix of the memory: the network's own, or that of its bundle."""
        return self.kit or self.name

    @property
    def interface(self) -> Interface:
        """How the network is called where it has memory of its own."""
        return Interface(
            self.name,
            tuple(port.size_bytes for port in self.inputs),
            tuple(port.size_bytes for port in self.outputs),
            takes_pointers=self.io != "arena",
            blobs=tuple(text.blob.size_bytes for text in self.blobs),
            context=self.context,
            arena_bytes=self.arena_bytes,
            state_bytes=self.states.size_bytes if self.states is not None else 0,
            align=self.align,
            streamed=tuple((port.rows, port.planes) for port in self.inputs) if self.io == "stream" else (),
            cores_read=self.cores_read,
        )

    @property
    def cmake(self) -> str:
        """Name of the CMake target."""
        return cmake_name(self.name)

    @property
    def own_includes(self) -> tuple[str, ...]:
        """Lines of the code file that include headers of the project."""
        cluster = (f'#include "{HEADER}"',) if self.fast is not None else ()
        return (f'#include "{self.name}.h"', f'#include "{self.name}_internal.h"', *cluster)

    @property
    def library_includes(self) -> tuple[str, ...]:
        """Lines of the code file that include headers of the C library."""
        limits = ("limits",) if self.limits.largest_int else ()
        return tuple(f"#include <{name}.h>" for name in ("float", *limits, "math", "stdbool", "string"))

    @property
    def arena(self) -> str:
        """C expression for the first byte of the arena."""
        return memories_of(self.owner, self.context).arena

    @property
    def state(self) -> str:
        """C expression for the first byte of what is kept from call to call."""
        return memories_of(self.owner, self.context).state

    @property
    def null_pointers(self) -> str:
        """What ERROR_NULL_POINTER says, as a comment."""
        caller = "an input or output that has elements and is used" if self.io != "arena" else ""
        told = ["the context"] * self.context + ["the memory given to init"] + [caller] * bool(caller)
        return f"{', '.join(told[:-1])}{' or ' if told[1:] else ''}{told[-1]} is NULL"

    @property
    def instance(self) -> str:
        """The parameter that says which instance is meant, alone in its list; `void` where there is one only."""
        return f"{self.name}_context *context" if self.context else "void"

    @property
    def first(self) -> str:
        """The same where other parameters follow."""
        return f"{self.instance}, " if self.context else ""
