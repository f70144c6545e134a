"""Integer Gemm and MatMul of one row for `--optimize speed`: a small layer without scratch, unrolled for its shape.

The row is read as it is, four columns at a time; weights take 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import dense_i8, matrix_i8
from tilewright.platforms.cortex_m.kernels.unrolled_i8 import WIDE_WEIGHTS, unfit, words_of
from tilewright.platforms.cortex_m.platform import PLATFORM


@dataclass(frozen=True)
class DenseWork(Work):
    """Instructions of products and their loads; blocks of columns; columns; the layer itself."""

    product_instructions: float
    blocks: float
    columns: float
    layers: float


PRICES = DenseWork(product_instructions=1.0, blocks=8.0, columns=3.0, layers=18.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class UnrolledDenseContext:
    """Every number of one layer."""

    x_type: str
    y_type: str
    unsigned: bool
    unsigned_result: bool
    inputs: int
    columns: int
    shift: int


def blocks_of(columns: int) -> list[int]:
    """Columns that are computed at once, block by block."""
    return [4] * (columns // 4) + ([columns % 4] if columns % 4 else [])


def stream(operands: Operands) -> Array:
    """Per block of columns starts, words of weights by pairs of inputs, multipliers; uint32."""
    call = operands.call
    inputs = call.shape(0)[-1]
    weights = dense_i8.weights_of(operands)[:, :inputs].astype(np.int64)
    padded = np.concatenate([weights, np.zeros_like(weights[:, :1])], axis=1)
    pairs = padded[:, np.asarray(words_of(inputs))]
    words = pairs[..., 0] & 0xFFFF | (pairs[..., 1] & 0xFFFF) << 16
    table = matrix_i8.channel_table(call, weights.shape[0]).astype(np.int64)
    parts, first = [], 0
    for count in blocks_of(weights.shape[0]):
        own = slice(first, first + count)
        parts += [table[own, 0], words[own].T.reshape(-1), table[own, 1]]
        first += count
    return np.asarray(np.concatenate(parts), np.uint32)


@PLATFORM.kernel(
    "Gemm", "MatMul", types=matrix_i8.TYPES, template="unrolled_dense_i8.c.mako", layout=("rows", "default"),
    sources=["dsp.h", "unrolled_dense_i8.h"], preference=25, requires=Needs(has=("dsp",), optimize="speed"),
)  # fmt: skip
class DenseUnrolled(KernelMethods):
    """Small integer matrix product of one row, unrolled for its shape."""

    def accepts(self, call: Call) -> str | None:
        """What `DenseDsp` takes of one row, with few weights, one shift for all columns, codes that saturate."""
        if (why := dense_i8.accepts(call)) is not None:
            return why
        if dense_i8.rows_of(call) != 1:
            return "the kernel computes one row"
        if call.shape(0)[-1] * call.outputs[0].shape[-1] > WIDE_WEIGHTS:
            return f"more than {WIDE_WEIGHTS} weights would take too much flash in 16 bits"
        return unfit(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The stream of weights, and codes."""
        return Constant("w", DType.U32, stream(operands)), matrix_i8.codes_constant(operands.call)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> UnrolledDenseContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        return UnrolledDenseContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=x.dtype is DType.U8,
            unsigned_result=y.dtype is DType.U8,
            inputs=x.shape[-1],
            columns=y.shape[-1],
            shift=matrix_i8.fixed_point(call).shift.values[0],
        )


def work(call: Call) -> DenseWork:
    """The work of one call."""
    inputs, columns = call.shape(0)[-1], call.outputs[0].shape[-1]
    groups, left = divmod(inputs, 4)
    per_pair = (0, 2, 4, 3)[left] + 3 * groups
    blocks = blocks_of(columns)
    products = sum(per_pair + len(words_of(inputs)) * (count + 1) for count in blocks)
    return DenseWork(product_instructions=products, blocks=len(blocks), columns=columns, layers=1)
