"""Integer Gemm and MatMul on cores with the DSP extension: rows as the pixels of the matrix core.

A single row takes eight columns at a time, so that its weights stream; what remains goes through the matrix core.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.kernels.matrix_i8 import Codes
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import dense_i8 as portable
from tilewright.platforms.generic.kernels.dense_f32 import memory_order


@dataclass(frozen=True)
class DenseWork(Work):
    """Products of eight columns, instructions of the matrix core; columns by eights; pairs in blocks; widened words;
    blocks of rows."""

    wide_products: float
    core_instructions: float
    wide_columns: float
    column_pairs: float
    widened_words: float
    blocks: float


PRICES = DenseWork(
    wide_products=1.01, core_instructions=1.19, wide_columns=7.2, column_pairs=13.6, widened_words=0.0, blocks=94.0
)
"""Instructions for one unit of each kind of work."""
WIDE = 8
"""Columns at a time for a single row."""
ROW_FORMS = ("_paired", "_paired_twice", "_paired_uniform", "_paired_uniform_twice")
"""What a single row takes by eights."""


@dataclass(frozen=True)
class DenseContext:
    """`rows` x `depth` times `depth` x `columns`; the first `wide` columns of a single row go by eights."""

    x_type: str
    y_type: str
    unsigned: bool
    rows: int
    at_once: int
    inputs: int
    depth: int
    columns: int
    wide: int
    codes: Codes


def accepts(call: Call) -> str | None:
    """What `fits` asks for, weights of eight bits and a plain requantisation."""
    if (why := fits(call)) is not None:
        return why
    if portable.matrix(call)[1] is not DType.I8:
        return "weights minus their zero point need more than eight bits"
    return matrix_i8.refusal(call)


def fits(call: Call) -> str | None:
    """Two or more columns."""
    if (why := portable.accepts(call)) is not None:
        return why
    if call.outputs[0].shape[-1] < 2:
        return "the kernel computes two columns at once"
    return None


def weights_of(operands: Operands) -> Array:
    """[columns, depth padded to fours], rows in the order in which the operand lies in memory."""
    call = operands.call
    weights, _ = portable.matrix(call)
    layout = operands.layout(call.tensor(0))
    if not layout.is_default:
        weights = weights[memory_order(layout)]
    return matrix_i8.padded_depth(np.ascontiguousarray(weights.T))


def rows_of(call: Call) -> int:
    """Rows of the left-hand side."""
    x = call.tensor(0)
    return x.elements // x.shape[-1]


def codes_of(call: Call, weights: Array) -> Codes:
    """The form; a single row needs no multipliers in its table where all are alike."""
    return matrix_i8.codes_of(call, matrix_i8.channels_of(call, weights), uniform=rows_of(call) == 1)


def wide_of(call: Call, weights: Array) -> int:
    """Columns that go by eights: of a single row of signed codes, where channels pair and codes saturate."""
    if rows_of(call) > 1 or call.tensor(0).dtype is DType.U8 or codes_of(call, weights).form not in ROW_FORMS:
        return 0
    columns: int = weights.shape[0]
    wide = columns // WIDE * WIDE
    return wide if columns - wide != 1 else wide - WIDE


def work(call: Call) -> DenseWork:
    """The work of one call."""
    weights = weights_of(Operands(call))
    columns, depth = weights.shape
    wide, rows = wide_of(call, weights), rows_of(call)
    at_once = matrix_i8.pixels_at_once(rows)
    blocks, pairs = -(-rows // at_once), (columns - wide + 1) // 2
    step = matrix_i8.COST[at_once] + codes_of(call, weights).extra
    return DenseWork(
        wide_products=wide * depth,
        core_instructions=blocks * pairs * depth / 2 * step,
        wide_columns=wide,
        column_pairs=blocks * pairs * at_once,
        widened_words=blocks * at_once * depth / 4,
        blocks=blocks,
    )


@PLATFORM.kernel(
    "Gemm", "MatMul", types=matrix_i8.TYPES, template="dense_i8.c.mako", layout=("rows", "default"),
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "dense_i8.h"], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class DenseDsp(KernelMethods):
    """Integer matrix product with a constant right-hand side in dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """What `fits` asks for, and a requantisation that rounds once or twice."""
        if (why := fits(call)) is not None:
            return why
        return matrix_i8.refusal_of_weights(call, portable.matrix(call)[0]) or matrix_i8.refusal_of_both(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in pairs of columns, by eights where a single row takes them so."""
        call, weights = operands.call, weights_of(operands)
        wide = wide_of(call, weights)
        channels = matrix_i8.channels_of(call, weights)
        weight, *others = matrix_i8.matrix_constants(call, channels, codes_of(call, weights).form)
        if wide:
            parts = [matrix_i8.pack(channels.weights, channels.pairs[: wide // 2], True, WIDE)]
            if wide < weights.shape[0]:
                parts.append(weight.values[wide * weights.shape[1] // 4 :])
            weight = Constant("w", DType.U32, np.concatenate(parts))
        return weight, *others

    def scratch(self, operands: Operands) -> int:
        """Widened rows of one block, and copies of them where their length is no multiple of four."""
        call = operands.call
        columns, depth = weights_of(operands).shape
        bytes_per_input = (1 if call.shape(0)[-1] % 4 else 0) + (
            2 if wide_of(call, weights_of(operands)) < columns else 0
        )
        return int(depth) * matrix_i8.pixels_at_once(rows_of(call)) * bytes_per_input

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> DenseContext:
        """The numbers of the layer."""
        call, weights = operands.call, weights_of(operands)
        x, y = call.tensor(0), call.outputs[0]
        return DenseContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=x.dtype is DType.U8,
            rows=rows_of(call),
            at_once=matrix_i8.pixels_at_once(rows_of(call)),
            inputs=x.shape[-1],
            depth=weights.shape[1],
            columns=weights.shape[0],
            wide=wide_of(call, weights),
            codes=codes_of(call, weights),
        )
