"""Rows coded as they come, and their products with coded weights, over tiles in L1: the cores share outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from tilewright.platform import Call, Constant, DType, KiB, Operands, Rule, TiledKernelMethods, TileView, prefer, whole
from tilewright.platforms.generic.kernels.row_codes import CodeProduct, ProductContext, RowCodes, RowContext
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

LARGEST_TABLE_BYTES = 64 * KiB
"""Of weights that are cut: where they rest in a third memory, tables are brought to L2 whole, all beside each other."""
PORTABLE_CODES, PORTABLE_PRODUCT = RowCodes(), CodeProduct()
ROW_WHOLE = "the largest element of a row decides all of its codes"
SUM_WHOLE = "a sum stays in one register from the first product to the last"


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


@PLATFORM.kernel(
    "CodeProduct", types="i8, f32, i8|i4, i8 -> f32", template="code_product.c.mako", numerics="exact", preference=20,
    sources=["tiles.h", "line_tile.h", "xpulp.h", "dots.h"],
)  # fmt: skip
class TiledCodeProduct(TiledKernelMethods):
    """Four outputs at a time, four products an instruction; weights lie as those of the portable kernel."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """Rows and blocks of whole words; a table that L2 holds beside others."""
        if call.shape(0)[-1] % 4 or call.integer("block", 0) % 4:
            return "rows or blocks are no multiple of four"
        if call.tensor(2).elements * call.tensor(2).dtype.bits // 8 > LARGEST_TABLE_BYTES:
            return f"its weights take more than {LARGEST_TABLE_BYTES} B, they are read where they rest"
        return PORTABLE_PRODUCT.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole."""
        return [*whole("k", why=SUM_WHOLE), prefer("n", 4 * CORES, why="eight cores take four outputs each")]

    def cost(self, call: Call) -> float:
        """As the portable kernel, shared among the cores."""
        return PORTABLE_PRODUCT.cost(call) / (4 * CORES)

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most: nine instructions for sixteen products, or forty for thirty-two of four bits."""
        of_product = 1.3 if call.tensor(2).dtype is DType.I4 else 0.7
        return 150 + rows_in(call, sizes) * -(-sizes["n"] // CORES) * (20 + sizes["k"] * of_product)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel, cut along the outputs."""
        return tuple(replace(constant, along=("n",)) for constant in PORTABLE_PRODUCT.constants(operands))

    def context(self, operands: Operands) -> ProductContext:
        """That of the portable kernel."""
        return PORTABLE_PRODUCT.context(operands)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows and outputs of one tile."""
        return {"rows": rows_of(call, view), "columns": view.size("n")}
