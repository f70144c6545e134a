"""Integer dense layers on cores with the vector extension: sixteen products in one instruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import dense_i8, matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM


@dataclass(frozen=True)
class DenseWork(Work):
    """Steps of eight columns and their blocks, those of four, and rows."""

    eight_steps: float
    eight_blocks: float
    four_steps: float
    four_blocks: float
    rows: float


VECTOR = 16
DENSE_PRICES = DenseWork(eight_steps=19.0, eight_blocks=50.0, four_steps=10.0, four_blocks=28.0, rows=38.0)
"""Instructions for one unit of each kind of work."""
TYPES = "qi8, qi8|qu8|qi4|qu4, i32? -> qi8|qu8"


@dataclass(frozen=True)
class MveDenseContext:
    """`rows` x `inputs` times `inputs` x `columns`, the first `eights` of them in eights; `depth` is `inputs` in whole
    vectors."""

    y_type: str
    rows: int
    inputs: int
    depth: int
    columns: int
    eights: int


def in_vectors(weights: Array) -> Array:
    """[OC, K] with zeros up to whole vectors of inputs."""
    return np.pad(weights, ((0, 0), (0, -weights.shape[1] % VECTOR)))


def columns_of(call: Call, channels: matrix_i8.Channels) -> tuple[Array, Array, Array, Array]:
    """Starts, multipliers, addends and shifts to the left, per channel."""
    fixed = matrix_i8.fixed_point(call)
    count = channels.start.size
    return channels.start, channels.multiplier, fixed.addend.spread(count), -fixed.shift.spread(count)


def words(values: Array) -> Array:
    """Integers of either sign as int32."""
    return (values.reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def bytes_as_words(values: Array) -> Array:
    """int8 values as the uint32 words in which they lie, so that vectors may be loaded from them."""
    return np.ascontiguousarray(values.astype(np.int8)).reshape(-1).view(np.uint32)


def eights_of(call: Call) -> int:
    """Columns that are computed in eights: where rows are whole vectors, all but up to four."""
    columns = int(call.outputs[0].shape[-1])
    if call.shape(0)[-1] % VECTOR:
        return 0
    return columns if columns % 8 > 4 else columns - columns % 8


def blocks_of(call: Call, values: Array) -> list[Array]:
    """[column, ...] as blocks [block, columns, ...] of eights and of fours, with zeros up to whole blocks."""
    eights = eights_of(call)
    blocks = []
    for part, size in ((values[:eights], 8), (values[eights:], 4)):
        missing = [(0, -part.shape[0] % size)] + [(0, 0)] * (part.ndim - 1)
        blocks.append(np.pad(part, missing).reshape(-1, size, *part.shape[1:]))
    return blocks


def dense_work(call: Call) -> DenseWork:
    """The work of one call."""
    rows, columns, eights = dense_i8.rows_of(call), int(call.outputs[0].shape[-1]), eights_of(call)
    vectors, blocks, fours = -(-call.shape(0)[-1] // VECTOR), -(-eights // 8), -(-max(0, columns - eights) // 4)
    return DenseWork(
        eight_steps=rows * blocks * vectors,
        eight_blocks=rows * blocks,
        four_steps=rows * fours * vectors,
        four_blocks=rows * fours,
        rows=rows,
    )


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="mve_dense.c.mako", layout=("rows", "default"), sources=["mve.h"],
    preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class DenseMve(KernelMethods):
    """Integer matrix product with a constant right-hand side: eight columns, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the scalar kernel accepts."""
        return dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [block of columns][vector][column][16] and the table."""
        call = operands.call
        weights = in_vectors(dense_i8.weights_of(operands))
        channels = matrix_i8.channels_of(call, weights)
        packed = [
            part.reshape(*part.shape[:2], weights.shape[1] // VECTOR, VECTOR).transpose(0, 2, 1, 3).reshape(-1)
            for part in blocks_of(call, channels.weights)
        ]
        table = [
            part.transpose(0, 2, 1).reshape(-1) for part in blocks_of(call, np.stack(columns_of(call, channels), 1))
        ]
        return (
            Constant("w", DType.U32, bytes_as_words(np.concatenate(packed))),
            Constant("table", DType.I32, words(np.concatenate(table))),
            matrix_i8.codes_constant(call),
        )

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return dense_work(call).priced(DENSE_PRICES)

    def context(self, operands: Operands) -> MveDenseContext:
        """The numbers of the layer."""
        call = operands.call
        inputs = call.shape(0)[-1]
        return MveDenseContext(
            y_type=C_TYPES[call.outputs[0].dtype],
            rows=dense_i8.rows_of(call),
            inputs=inputs,
            depth=inputs + -inputs % VECTOR,
            columns=call.outputs[0].shape[-1],
            eights=eights_of(call),
        )
