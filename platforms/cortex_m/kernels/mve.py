"""Integer dense layers on cores with the vector extension: sixteen products in one instruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.codegen.c_types import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, Operands, priced
from tilewright.platforms.cortex_m.kernels import dense_i8, matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM

VECTOR = 16
DENSE_PRICES = (19.0, 56.5, 11.0, 38.0)
"""Instructions for one of each amount of `dense_work`."""
TYPES = "qi8, qi8|qu8|qi4|qu4, i32? -> qi8|qu8"


@dataclass(frozen=True)
class MveDenseContext:
    """`rows` x `inputs` times `inputs` x `columns`; `depth` is `inputs` in whole vectors."""

    y_type: str
    rows: int
    inputs: int
    depth: int
    columns: int


def in_vectors(weights: Array) -> Array:
    """[OC, K] with zeros up to whole vectors of inputs."""
    return np.pad(weights, ((0, 0), (0, -weights.shape[1] % VECTOR)))


def columns_of(call: Call, found: matrix_i8.Channels) -> tuple[Array, Array, Array, Array]:
    """Starts, multipliers, addends and shifts to the left, per channel."""
    fixed = matrix_i8.fixed_point(call)
    addend, left = (np.broadcast_to(p.astype(np.int64), found.start.shape) for p in (fixed.addend, -fixed.shift))
    return found.start, found.multiplier, addend, left


def words(values: Array) -> Array:
    """Integers of either sign as int32."""
    return (values.reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def bytes_as_words(values: Array) -> Array:
    """int8 values as the uint32 words in which they lie, so that vectors may be loaded from them."""
    return np.ascontiguousarray(values.astype(np.int8)).reshape(-1).view(np.uint32)


def dense_work(call: Call) -> tuple[float, ...]:
    """For eight columns: vectors and blocks; vectors of rows that are copied; rows."""
    rows, inputs, blocks = dense_i8.rows_of(call), call.shape(0)[-1], -(-call.outputs[0].shape[-1] // 8)
    vectors = -(-inputs // VECTOR)
    copied = rows * vectors if inputs % VECTOR else 0
    return float(rows * blocks * vectors), float(rows * blocks), float(copied), float(rows)


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="mve_dense.c.mako", layout=("rows", "default"), sources=["mve.h"],
    preference=40, requires=("mve",),
)  # fmt: skip
class DenseMve:
    """Integer matrix product with a constant right-hand side: eight columns, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the scalar kernel accepts."""
        return dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [eight columns][vector][column][16] and the table, both padded to eights of columns."""
        call = operands.call
        weights = in_vectors(dense_i8.weights_of(operands))
        missing = -weights.shape[0] % 8
        tamed = matrix_i8.channels_of(call, weights).weights
        padded = np.pad(tamed, ((0, missing), (0, 0))).reshape(-1, 8, weights.shape[1] // VECTOR, VECTOR)
        columns = columns_of(call, matrix_i8.channels_of(call, weights))
        table = np.stack([np.pad(part, (0, missing)).reshape(-1, 8) for part in columns], axis=1)
        return (
            Constant("w", DType.U32, bytes_as_words(padded.transpose(0, 2, 1, 3))),
            Constant("table", DType.I32, words(table)),
            matrix_i8.codes_constant(call),
        )

    def scratch(self, operands: Operands) -> int:
        """A copy of a row that is no whole number of vectors."""
        inputs = operands.call.shape(0)[-1]
        return 0 if inputs % VECTOR == 0 else inputs + -inputs % VECTOR

    def cost(self, call: Call) -> float:
        """See `dense_work`."""
        return priced(dense_work(call), DENSE_PRICES)

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
        )
