"""Rows coded as they come, over tiles in L1."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from tilewright.platform import Call, Operands, Rule, TiledKernelMethods, TileView, whole
from tilewright.platforms.generic.kernels.row_codes import RowCodes, RowContext
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE_CODES = RowCodes()
ROW_WHOLE = "the largest element of a row decides all of its codes"


def rows_in(call: Call, sizes: Mapping[str, Any]) -> Any:
    """Rows of a tile."""
    rows: Any = 1
    for axis in range(len(call.shape(0)) - 1):
        rows = rows * sizes[f"r{axis}"]
    return rows


def rows_of(call: Call, view: TileView) -> int:
    """`rows_in` of the tile's loops."""
    return prod(view.size(f"r{axis}") for axis in range(len(call.shape(0)) - 1))


@PLATFORM.kernel(
    "RowCodes", types="f32 -> i8, f32", template="row_codes.c.mako", numerics="exact", preference=20,
    sources=["tiles.h", "line_tile.h", "xpulp.h", "dots.h", "largest.h"],
)  # fmt: skip
class TiledRowCodes(TiledKernelMethods):
    """The largest of a row by its bits, then its codes, rounded to even by an addition."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return PORTABLE_CODES.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Rows stay whole."""
        return whole("e", why=ROW_WHOLE)

    def cost(self, call: Call) -> float:
        """As the portable kernel, shared among the cores."""
        return PORTABLE_CODES.cost(call) / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """A word to load and compare for each element, and its code."""
        return 200 + rows_in(call, sizes) * sizes["e"] * (5 + 12 / CORES)

    def context(self, operands: Operands) -> RowContext:
        """That of the portable kernel."""
        return PORTABLE_CODES.context(operands)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows."""
        return {"rows": rows_of(call, view), "columns": call.shape(0)[-1]}
