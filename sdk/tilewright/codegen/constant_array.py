"""An array of the generated weights file: its declaration, and its definition piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tilewright.codegen.artifacts import Piece
from tilewright.codegen.c_types import initialiser_pieces
from tilewright.model import Array, DType
from tilewright.platform import Constant, MemoryLevel


def section_of(constant: Constant, levels: Sequence[MemoryLevel]) -> tuple[str, int]:
    """The linker's section of a constant and its alignment; nothing where it lies with all others."""
    return next(((level.section, constant.align) for level in levels if level.name == constant.level), ("", 0))


@dataclass(frozen=True)
class ConstantArray:
    """One array of the weights file: in RAM where it is not `fixed`, of one zero where it has no elements.

    One that rests in a memory of its own names the linker's `section` and what its address is a multiple of.
    """

    name: str
    c_type: str
    elements: int
    comment: str
    dtype: DType
    values: Array
    fixed: bool = True
    section: str = ""
    align: int = 0

    @property
    def declaration(self) -> str:
        """The line that declares it for other files."""
        return f"extern {'const ' if self.fixed else ''}{self.c_type} {self.name}[{max(self.elements, 1)}];"

    def definition(self, upper: str, elements: Piece) -> tuple[Piece, ...]:
        """The whole array around the text of its elements; `upper` is the prefix of macros."""
        place = f"{upper}_{'WEIGHTS_SECTION const' if self.fixed else 'RUNTIME_WEIGHTS_SECTION'}"
        if self.section:
            place = f'__attribute__((section("{self.section}"), aligned({self.align}))) const'
        head = f"{place} {self.c_type} {self.name}[{max(self.elements, 1)}]"
        return f"\n/* {self.comment} */\n{head} = {{\n    ", elements if self.elements else "0", "};\n"

    @property
    def text(self) -> Piece:
        """What gives the elements piece by piece."""
        return partial(initialiser_pieces, self.dtype, self.values)
