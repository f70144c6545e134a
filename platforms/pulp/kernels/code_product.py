"""Products of coded rows with coded weights over tiles in L1, and rows of such tables.

Weights lie as groups of four outputs, a word of each in turn: four codes, or eight of four bits, of which the first
four are the low halves of the bytes. So cores walk over memory side by side, each in another bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.operators import code_block
from tilewright.platform import (
    Array,
    Call,
    Constant,
    DType,
    KernelMethods,
    KiB,
    Operands,
    Rule,
    TiledKernelMethods,
    TileView,
    multiple,
    prefer,
    whole,
)
from tilewright.platforms.generic.kernels.elements import c_type
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.kernels.row_codes import CodeProduct, CodeRows
from tilewright.platforms.pulp.kernels.listing import Listing
from tilewright.platforms.pulp.kernels.row_codes import rows_in, rows_of
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

LARGEST_TABLE_BYTES = 64 * KiB
"""Of weights that are cut: where they rest in a third memory, tables are brought to L2 whole, all beside each other."""
GROUP = 4
"""Outputs that are summed side by side, where they are a multiple of them."""
PORTABLE_PRODUCT, PORTABLE_ROWS = CodeProduct(), CodeRows()
SUM_WHOLE = "a sum stays in one register from the first product to the last"


@dataclass(frozen=True)
class TableContext:
    """A table of `lines` outputs side by side; `blocks` of a row have factors of their own, `words` of codes each and
    `rest` in the last one. `texts` are the sums of so many words.

    `four`: a word has eight weights; then an odd word of codes is left over where `half`.
    """

    lines: int
    outputs: int
    width: int
    block: int
    blocks: int
    words: int
    rest: int
    four: bool
    half: bool
    text: str
    last: str
    unit: str
    rows: int = 0
    index: str = ""

    @property
    def row_words(self) -> int:
        """Words of a row of weights."""
        return -(-self.width // (8 if self.four else 4))


@PLATFORM.kernel(
    "CodeProduct", types="i8, f32, i8|i4, i8 -> f32", template="code_product.c.mako", numerics="exact", preference=20,
    sources=["tiles.h", "code_tile.h", "xpulp.h", "dots.h"],
)  # fmt: skip
class TiledCodeProduct(TiledKernelMethods):
    """Four outputs at a time, four products an instruction; the cores share outputs."""

    tile_type = "tilewright_code_tile"

    def accepts(self, call: Call) -> str | None:
        """Rows and blocks of whole words; a table that L2 holds beside others."""
        return uneven(call, 2) or PORTABLE_PRODUCT.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole, and outputs whose weights lie side by side are together."""
        lines = lines_of(call.shape(2)[0])
        sides = [multiple("n", lines, why="their weights lie side by side")] if lines > 1 else []
        return [*whole("k", why=SUM_WHOLE), *sides, prefer("n", lines * CORES, why="every core has as many outputs")]

    def cost(self, call: Call) -> float:
        """As the portable kernel, shared among the cores."""
        return PORTABLE_PRODUCT.cost(call) / (4 * CORES)

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most: nine instructions for sixteen products, or twenty-six for thirty-two."""
        lines = lines_of(call.shape(2)[0])
        groups = -(-sizes["n"] // (lines * CORES))
        of_word = (2 + 6 * lines) / 8 if call.tensor(2).dtype is DType.I4 else (1 + 2 * lines) / 4
        blocks = -(-call.shape(2)[1] // code_block(call))
        return 150 + rows_in(call, sizes) * groups * (25 + blocks * (12 + 3 * lines) + sizes["k"] * of_word)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and factors, cut along the outputs."""
        return table(operands.call, 2, 3)

    def context(self, operands: Operands) -> TableContext:
        """Sizes, and the sums."""
        return table_context(operands.call, 2)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows and outputs of one tile, and what a code times a factor counts, as the bits of a float."""
        unit = int(np.float32(call.real("unit")).view(np.int32))
        return {"rows": rows_of(call, view), "columns": view.size("n"), "unit": unit}


@PLATFORM.kernel(
    "CodeRows", types="i8|i4, i8, i64|i32 -> f32", template="code_rows.c.mako", numerics="exact", preference=20,
    sources=["../../generic/kernels/index.h"],
)  # fmt: skip
class WordCodeRows(KernelMethods):
    """Rows of a table that products share, four codes a load."""

    def accepts(self, call: Call) -> str | None:
        """A table as products have it."""
        return uneven(call, 0) or PORTABLE_ROWS.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of a product, so that one table serves both."""
        return table(operands.call, 0, 1)

    def cost(self, call: Call) -> float:
        """A conversion and a product for each element."""
        return 6.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> TableContext:
        """Sizes, and the type of an index."""
        index = operands.call.tensor(2)
        return table_context(operands.call, 0, index.elements, c_type(index))


def lines_of(outputs: int) -> int:
    """Outputs whose weights lie side by side."""
    return next(lines for lines in (GROUP, GROUP // 2, 1) if outputs % lines == 0)


def uneven(call: Call, codes: int) -> str | None:
    """Why a table does not lie in words: None where it does."""
    weights = call.tensor(codes)
    unit = 8 if weights.dtype is DType.I4 else 4
    if weights.shape[1] % 4 or call.integer("block", 0) % unit:
        return f"rows are no multiple of four, or blocks none of {unit}"
    if weights.elements * weights.dtype.bits // 8 > LARGEST_TABLE_BYTES:
        return f"its weights take more than {LARGEST_TABLE_BYTES} B, they are read where they rest"
    return None


def table(call: Call, codes: int, factors: int) -> tuple[Constant, ...]:
    """Weights as words of outputs side by side, and their factors."""
    held, four = call.constants[codes], call.tensor(codes).dtype is DType.I4
    rows = _halves(held) if four else held.astype(np.int8)
    words = np.ascontiguousarray(rows).view("<i4")
    lines = lines_of(len(words))
    laid = words.reshape(-1, lines, words.shape[1]).swapaxes(1, 2)
    return (
        Constant("w", DType.I32, np.ascontiguousarray(laid).reshape(-1).astype(np.int32), along=("n",)),
        Constant("factors", DType.I8, call.constants[factors].reshape(-1), along=("n",)),
    )


def _halves(codes: Array) -> Array:
    """Eight weights of four bits as four bytes, the first four in their low halves."""
    rows = np.pad(codes.astype(np.int16), ((0, 0), (0, -codes.shape[1] % 8))).reshape(len(codes), -1, 2, 4)
    return ((rows[:, :, 0] & 15) | (rows[:, :, 1] & 15) << 4).astype(np.uint8).view(np.int8).reshape(len(codes), -1)


def table_context(call: Call, codes: int, rows: int = 0, index: str = "") -> TableContext:
    """Sizes of a table, and the sums of its blocks."""
    outputs, width = call.shape(codes)
    four, block, lines = call.tensor(codes).dtype is DType.I4, code_block(call), lines_of(outputs)
    blocks, unit = -(-width // block), 8 if four else 4
    last = width - (blocks - 1) * block
    return TableContext(
        lines, outputs, width, block, blocks, block // unit, last // unit, four, four and last % 8 > 0,
        sums(lines, four).text(" " * 24), sums(lines, four, left_over=True).text(" " * 24),
        literal(DType.F32, call.real("unit")), rows, index,
    )  # fmt: skip


def sums(lines: int, four: bool, *, left_over: bool = False) -> Listing:
    """Sums of so many outputs over words of their weights; those of four bits count sixteen times.

    `left_over`: only the first four weights of a word, behind the others.
    """
    out, accumulators = Listing(), [f"%[acc{line}]" for line in range(lines)]
    weights = ("t2", "t3", "t4", "t5")[:lines]
    if not left_over:
        out("mv t0, %[words]")
        out.begin_loop("t0")
    out("p.lw t1, 4, %[x]", *["p.lw t6, 4, %[x]"] * (four and not left_over))
    out(*(f"p.lw {word}, 4, %[w]" for word in weights))
    for word, accumulator in zip(weights, accumulators, strict=True) if four else ():
        if not left_over:
            out(f"and a7, {word}, %[mask]", f"pv.sdotsp.b {accumulator}, a7, t6")
        out(f"slli {word}, {word}, 4", f"and {word}, {word}, %[mask]")
    out(*(f"pv.sdotsp.b {accumulator}, {word}, t1" for word, accumulator in zip(weights, accumulators, strict=True)))
    if not left_over:
        out.end_loop()
    return out
