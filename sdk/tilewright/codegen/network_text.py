"""What the templates of a network's files print, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tilewright.codegen.artifacts import Piece
from tilewright.codegen.blob import Blob
from tilewright.codegen.build_names import cmake_name
from tilewright.codegen.c_types import initialiser_pieces
from tilewright.codegen.limits import Limits
from tilewright.codegen.tiled import HEADER
from tilewright.model import Array, DType


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
    """One input or output of the network as the header describes it."""

    index: int
    c_type: str
    pointer: str
    comment: str
    size_bytes: int
    elements: int
    shape: tuple[int, ...]
    scale: str | None
    zero_point: int


@dataclass(frozen=True)
class ConstantArray:
    """One array of the weights file: in RAM where it is not `fixed`, of one zero where it has no elements."""

    name: str
    c_type: str
    elements: int
    comment: str
    dtype: DType
    values: Array
    fixed: bool = True

    @property
    def declaration(self) -> str:
        """The line that declares it for other files."""
        return f"extern {'const ' if self.fixed else ''}{self.c_type} {self.name}[{max(self.elements, 1)}];"

    def definition(self, upper: str, elements: Piece) -> tuple[Piece, ...]:
        """The whole array around the text of its elements; `upper` is the prefix of macros."""
        section = "WEIGHTS_SECTION const" if self.fixed else "RUNTIME_WEIGHTS_SECTION"
        head = f"{upper}_{section} {self.c_type} {self.name}[{max(self.elements, 1)}]"
        return f"\n/* {self.comment} */\n{head} = {{\n    ", elements if self.elements else "0", "};\n"

    @property
    def text(self) -> Piece:
        """What gives the elements piece by piece."""
        return partial(initialiser_pieces, self.dtype, self.values)


@dataclass(frozen=True)
class CallLine:
    """The statements of one instruction in `run`; none where its operands and results are the same bytes."""

    index: int
    statements: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class BlobText:
    """A region's weights outside of the code: their layout, their name in a comment, and the identity in two words."""

    blob: Blob
    comment: str
    low: int
    high: int


@dataclass(frozen=True)
class FastMemory:
    """The compute level that schedules fill: its array, its macro, bytes, alignment and section."""

    name: str
    macro: str
    size_bytes: int
    align: int
    section: str


@dataclass(frozen=True)
class NetworkText:
    """Everything that the templates print but for the number of the build, which comes of their texts.

    `binary`: the constants are a binary file, and an assembler file takes it in.
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
        return tuple(f"#include <{name}.h>" for name in ("float", *limits, "math", "string"))

    @property
    def arena(self) -> str:
        """C expression for the first byte of the arena."""
        return arena_of(self.name, self.context)

    @property
    def null_pointers(self) -> str:
        """What ERROR_NULL_POINTER says, as a comment."""
        caller = "an input or output that has elements and is used" if self.io == "caller" else ""
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


def arena_of(name: str, context: bool) -> str:
    """C expression for the arena: an array of the model's, or a member of the caller's context."""
    return "context->arena" if context else f"{name}_arena"
