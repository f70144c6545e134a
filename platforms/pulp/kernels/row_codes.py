"""Rows coded as they come, over tiles in L1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tilewright.operators import highest_code
from tilewright.platform import Call, Operands, Rule, TiledKernelMethods, TileView, whole
from tilewright.platforms.generic.kernels.row_codes import RowCodes
from tilewright.platforms.pulp.kernels.floats import bits_of
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE_CODES = RowCodes()
ROW_WHOLE = "the largest element of a row decides all of its codes"


@dataclass(frozen=True)
class CodesContext:
    """The least that the largest of a row counts as, and the code of that one, as the bits of floats; whether there are
    fewer rows than cores.
    """

    least: str
    limit: str
    few: bool


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
    phases = 2

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
        """A word to load and compare for each element, and its code, of the core that has most; a division a row."""
        rows = rows_in(call, sizes)
        few = rows * (160 + -(-sizes["e"] // CORES) * 22)
        return 150 + np.where(rows < CORES, few, -(-rows // CORES) * (100 + sizes["e"] * 22))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """What every core finds to be the largest of its part of a row, of fewer rows than there are cores."""
        return 4 * CORES * np.minimum(rows_in(call, sizes), CORES)

    def context(self, operands: Operands) -> CodesContext:
        """The least that the largest of a row counts as, and its code."""
        call = operands.call
        few = prod(call.shape(0)[:-1]) < CORES
        return CodesContext(bits_of(call.real("least")), bits_of(highest_code(call)), few)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows."""
        return {"rows": rows_of(call, view), "columns": call.shape(0)[-1]}
