"""An array of the generated weights file: its declaration, and its definition piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tilewright.codegen.artifacts import Piece
from tilewright.codegen.c_types import initialiser_pieces
from tilewright.model import Array, DType


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
