"""Float convolution on cores with vectors: six pixels by sixteen channels in registers.

A step loads sixteen weights of one input and multiplies them with that input of every pixel: fourteen instructions for
ninety-six multiply-accumulates. Vectors of 128 bits or more are enough. Windows are found as ConvBlockF32 finds them.
"""

from __future__ import annotations

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS, in_blocks, starts
from tilewright.platforms.riscv.kernels.conv_f32 import (
    ConvContext,
    ConvWork,
    context_of,
    copied_bytes,
    flat_weights,
    overlap_of,
    refused,
    work_of,
    zeros_outside,
)
from tilewright.platforms.riscv.platform import PLATFORM

LANES = 16
"""Channels of a block; the last one has as many as are left."""
PRICES = ConvWork(products=0.19, results=1.0, taps=60.0)
"""Instructions for one unit of each kind of work, of whole blocks of channels."""


def by_lanes(columns: Array, start: Array) -> Array:
    """[OC, K] and OC starts as [blocks][1 + K][16], the last block as narrow as it is."""
    whole = columns.shape[0] // LANES * LANES
    parts = [in_blocks(columns[:whole], start[:whole], LANES)]
    if rest := columns.shape[0] - whole:
        parts.append(in_blocks(columns[whole:], start[whole:], rest))
    return np.concatenate(parts)


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="conv_f32.c.mako", layout=("axes", "channels_last"),
    sources=[REGISTERS, "vector_f32.h"], numerics="1e-5", preference=25, requires=Needs(has=("fpu", "rvv")),
)  # fmt: skip
class ConvVectorF32(KernelMethods):
    """Float convolution of one group: six pixels by sixteen channels in vectors."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, one group, batch 1, at most two spatial axes."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by sixteen channels, and zeros for taps outside."""
        call = operands.call
        flat = flat_weights(call)
        packed = Constant("w", DType.F32, by_lanes(flat, starts(call, flat.shape[0])))
        return (packed, *zeros_outside(self.context(operands)))

    def scratch(self, operands: Operands) -> int:
        """Copied windows of a block."""
        return copied_bytes(operands.call, self.context(operands))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Blocks are written after all that later ones read, where the operand's channels are innermost."""
        return overlap_of(operands, self.context(operands))

    def cost(self, call: Call) -> float:
        """Products, results, and the lists of taps."""
        return work_of(call, LANES).priced(PRICES)

    def context(self, operands: Operands) -> ConvContext:
        """The numbers of the layer."""
        return context_of(operands, vectors=True)
