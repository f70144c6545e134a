"""Integer Gemm and MatMul of one row: every core takes as many columns as the next, four of them at a time.

Each column is a stream of its own: start of the sum, four weights a word, the numbers of its requantisation. So a core
may begin at any column, and a tile of eight columns has work for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS, accumulator, proof
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels.dense_i8 import accepts, matrix
from tilewright.platforms.pulp.kernels.block_asm import Streamed
from tilewright.platforms.pulp.kernels.block_i8 import parts_of, refusal, requantise_of
from tilewright.platforms.pulp.kernels.block_window import Window
from tilewright.platforms.pulp.kernels.conv_block_i8 import SUMS_WHOLE
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.listing import Listing, constant
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

WIDTH = 4
STREAMS = ("a1", "a3", "a4", "a5")
SUMS = ("s0", "s1", "s2", "s3")
LOADED = ("t2", "t3", "t4", "t5")
X, W, Y = range(0, 12, 4)  # bytes in `tilewright_column_walk`
ENTRY_CYCLES, BLOCK_CYCLES = 150, 40


@dataclass(frozen=True)
class RowContext:
    """What the template prints: `texts` are the asm statements for one to four columns."""

    x_type: str
    y_type: str
    w_type: str
    depth: int
    words: int
    column_words: int
    requantise: Streamed
    texts: tuple[tuple[int, str], ...]


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dense_row_i8.c.mako",
    sources=[SHIFTS, "tiles.h", "line_tile.h", "xpulp.h", "columns.h"], preference=40,
)  # fmt: skip
class DenseRowI8(TiledKernelMethods):
    """Integer product of one row and a constant matrix over tiles in L1."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """One row whose codes are whole words, a constant matrix of eight bits, a requantisation of 32 bits."""
        depth = call.shape(0)[-1]
        if call.tensor(0).elements != depth:
            return "the left-hand side has more than one row"
        if depth % (lanes := _lanes(call)):
            return f"{depth} codes of the left-hand side are no multiple of {lanes}"
        if proof(call).fixed is None:
            return "the requantisation has no 32-bit form"
        window = Window(depth * WIDTH // lanes, call.outputs[0].shape[-1])
        if (why := accepts(call) or refusal(window, call, matrix(call)[1])) is not None:
            return why
        return "the weights minus their zero point need more than eight bits" if parts_of(call) > 1 else None

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole; every core has a column."""
        return [*whole("k", "m", why=SUMS_WHOLE), multiple("n", CORES, why="eight cores take as many columns each")]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most: a load of four codes, then one of weights and a product for every column."""
        words = call.shape(0)[-1] // _lanes(call)
        columns = -(-sizes["n"] // CORES)
        blocks, over = columns // WIDTH, columns % WIDTH
        work = blocks * _block_cycles(words, WIDTH) + (over > 0) * _block_cycles(words, over)
        return ENTRY_CYCLES + work

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per column."""
        call = operands.call
        lane = np.int8 if _lanes(call) == WIDTH else np.int16
        weights = np.ascontiguousarray(matrix(call)[0].T.astype(lane))
        columns = weights.shape[0]
        start = np.broadcast_to(accumulator(call).start, (columns,))[:, None]
        words = np.hstack([start, weights.view("<i4"), requantise_of(call).columns(columns)]).astype(np.int32)
        return (Constant("w", DType.I32, words.reshape(-1), along=("n",)),)

    def context(self, operands: Operands) -> RowContext:
        """Types, words of a column, and a statement for each number of columns."""
        call = operands.call
        streamed = requantise_of(call)
        words = call.shape(0)[-1] // _lanes(call)
        dot = f"pv.sdot{'sp' if call.tensor(0).dtype.is_signed else 'usp'}.{'b' if _lanes(call) == WIDTH else 'h'}"
        y_bytes = call.outputs[0].dtype.bits // 8
        texts = tuple((n, listing(n, words, dot, streamed, y_bytes).text("        ")) for n in range(WIDTH, 0, -1))
        types = C_TYPES[call.tensor(0).dtype], C_TYPES[call.outputs[0].dtype]
        w_type = "signed char" if _lanes(call) == WIDTH else "int16_t"
        return RowContext(*types, w_type, call.shape(0)[-1], words, 1 + words + streamed.words, streamed, texts)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Columns of one tile."""
        return {"rows": 1, "columns": view.size("n")}


def _lanes(call: Call) -> int:
    """Codes of a word of the row."""
    return 2 if call.tensor(0).dtype.bits == 16 else WIDTH


def listing(columns: int, words: int, dot: str, requantise: Streamed, y_bytes: int) -> Listing:
    """So many columns side by side: a0 walks over the row, a1 and a3 to a5 over the columns."""
    out, streams, sums, form = Listing(), STREAMS[:columns], SUMS[:columns], requantise.form
    out(f"lw a1, {W}+%[k]", f"lw a0, {X}+%[k]", f"lw a2, {Y}+%[k]")
    if columns > 1:
        out(*constant("t0", 4 * (1 + words + requantise.words)))
        out(*(f"add {to}, {at}, t0" for at, to in pairwise(streams)))
    out(*(f"p.lw {total}, 4, {at}" for total, at in zip(sums, streams, strict=True)))
    out(*constant("t0", words))
    out.begin_loop("t0")
    out("p.lw t1, 4, a0", *(f"p.lw {LOADED[i]}, 4, {at}" for i, at in enumerate(streams)))
    out(*(f"{dot} {total}, t1, {LOADED[i]}" for i, total in enumerate(sums)))
    out.end_loop()
    out(*(f"p.lw {LOADED[i]}, 4, {at}" for i, at in enumerate(streams)))
    if form.pre_shift:
        out(*(f"slli {total}, {total}, {form.pre_shift}" for total in sums))
    out(*(f"mulh {total}, {total}, {LOADED[i]}" for i, total in enumerate(sums)))
    if requantise.own:
        out(*(f"p.lw {LOADED[i]}, 4, {at}" for i, at in enumerate(streams)))
        out(*(f"add {total}, {total}, {LOADED[i]}" for i, total in enumerate(sums)))
        out(*(f"lw {LOADED[i]}, 0({at})" for i, at in enumerate(streams)))
        out(*(f"sra {total}, {total}, {LOADED[i]}" for i, total in enumerate(sums)))
    else:
        addend, shift = form.addend.values[0], form.shift.values[0]
        out(*constant("t1", addend), *(f"p.addN {total}, {total}, t1, {shift}" for total in sums))
    out(*constant("t0", form.low), *constant("t1", form.high))
    for total in sums:
        out(f"p.max {total}, {total}, t0", f"p.min {total}, {total}, t1")
    out(*(f"s{'bh'[y_bytes - 1]} {total}, {y_bytes * at}(a2)" for at, total in enumerate(sums)))
    return out


def _block_cycles(words: Any, columns: Any) -> Any:
    """Instructions of a block, a high half of a product counted as five; one column alone waits for its weights."""
    return BLOCK_CYCLES + words * (1 + 2 * columns + (columns == 1)) + columns * 13
