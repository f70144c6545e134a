"""Add, Sub and Mul of rows of codes and a constant row: tiles of rows, of which the cores share the elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.numerics import OF_PAIRS
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.codes import PAIRS, read_constants, real, without_form
from tilewright.platforms.generic.kernels.nest import nests_of
from tilewright.platforms.pulp.kernels.pair_i8 import PairContext, pair_context, pair_cycles
from tilewright.platforms.pulp.platform import PLATFORM


@dataclass(frozen=True)
class RowContext:
    """The form, and where in a row and in all of them the elements of both operands lie."""

    pair: PairContext
    a_at: str
    b_at: str


@PLATFORM.kernel(
    *PAIRS, types="qi8|qu8, qi8|qu8 -> qi8|qu8", template="pair_vector_i8.c.mako",
    sources=[*OF_PAIRS, "tiles.h", "line_tile.h", "xpulp.h"], preference=40,
)  # fmt: skip
class TiledPairVectorI8(TiledKernelMethods):
    """Add, Sub and Mul of codes and a constant row over tiles in L1."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """One operand of the result's shape, one constant row of it, and an integer form."""
        if len(call.constants) != 1:
            return "no operand is constant, or both are; the kernel handles a constant row"
        (constant,) = call.constants
        shape = call.outputs[0].shape
        *above, width = call.shape(constant) or (1,)
        if width < 2 or width != shape[-1] or prod(above) != 1 or call.shape(1 - constant) != shape:
            return f"the constant of shape {list(call.shape(constant))} is no row of the other operand"
        return without_form(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """As of two tensors."""
        return pair_cycles(call, sizes)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The row, cut as the columns are."""
        (nest,) = nests_of(real(operands.call))
        along = tuple(nest.out.subscripts[-1].loops)
        (row,) = read_constants(operands, (nest,))
        return (Constant(row.name, row.dtype, row.values, along=along),)

    def context(self, operands: Operands) -> RowContext:
        """The form as an expression of both codes."""
        places = ["i", "i"]
        (constant,) = operands.call.constants
        places[constant] = "column"
        return RowContext(pair_context(operands.call), *places)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows and their elements."""
        (constant,) = call.constants
        sizes = [high - low for low, high in view.boxes["ab"[1 - constant]].box]
        return {"rows": prod(sizes[:-1]), "columns": sizes[-1]}
