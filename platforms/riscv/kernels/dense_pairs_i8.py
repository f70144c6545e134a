"""Integer matrix-vector product with two channels in one multiplication: twice the flash, a quarter fewer instructions.

A word holds the weights of two channels as `second * 65536 + first`. Two products of a code with such words and one
start of 32768 never carry from the lower half into the upper one, as 2 * 128 * 127 is below 32768; so after every
second product the upper half is added to the second channel's sum, and the whole word to a sum from which the first
channel's is told apart at the end, modulo 2**32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import ROUNDING, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels import dense_i8
from tilewright.platforms.generic.kernels.conv_i8 import TYPES
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.riscv.kernels.dense_i8 import DenseContext, dense_context, rows_of
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class PairsWork(Work):
    """Products and results."""

    products: float
    results: float


WIDTH = 8
PRICES = PairsWork(products=2.47, results=20.6)
"""Instructions for one unit of each kind of work."""
LARGEST = 32767
"""Largest absolute sum of two products that leaves the upper half alone."""


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dense_pairs_i8.c.mako", layout=("rows", "default"),
    sources=["scalar.h", *ROUNDING], preference=33, requires=Needs(lacks=("rvv",), optimize="speed"),
)  # fmt: skip
class DensePairsI8(KernelMethods):
    """Integer matrix-vector product over pairs of channels in one word."""

    def accepts(self, call: Call) -> str | None:
        """One row, an even depth, columns in eights, codes and weights small enough."""
        if (refused := dense_i8.accepts(call)) is not None:
            return refused
        depth, columns = call.shape(0)[-1], call.outputs[0].shape[-1]
        if rows_of(call) != 1 or depth % 4 or columns % WIDTH:
            return (
                f"{rows_of(call)} x {depth} x {columns}: the kernel takes one row, a depth in fours, columns in eights"
            )
        weights, _ = dense_i8.matrix(call)
        low, high = call.tensor(0).dtype.range
        pairs = np.abs(weights.astype(np.int64)).reshape(depth // 2, 2, columns).sum(axis=1)
        if int(pairs.max(initial=0)) * max(-low, high) > LARGEST:
            return "two products could leave sixteen bits"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Words of two channels' weights as [block][depth][4]; folded starts; requantisation."""
        call = operands.call
        weights, _ = dense_i8.matrix(call)
        layout = operands.layout(call.tensor(0))
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        wide = weights.astype(np.int64)
        words = wide[:, 1::2] * 65536 + wide[:, 0::2]
        blocks = words.reshape(words.shape[0], -1, WIDTH // 2).transpose(1, 0, 2)
        start = np.broadcast_to(np.asarray(accumulator(call).start, np.int32), (wide.shape[1],))
        requantisation = requantise(proof(call)).constants
        packed = np.ascontiguousarray(blocks).astype(np.int32).reshape(-1)
        return (Constant("w", DType.I32, packed), Constant("bias", DType.I32, start), *requantisation)

    def cost(self, call: Call) -> float:
        """Products and results."""
        columns = call.outputs[0].shape[-1]
        return PairsWork(products=call.shape(0)[-1] * columns, results=columns).priced(PRICES)

    def context(self, operands: Operands) -> DenseContext:
        """The numbers of the block."""
        return dense_context(operands)
