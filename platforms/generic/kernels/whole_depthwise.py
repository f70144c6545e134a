"""Depthwise convolutions of floats where there is no float unit: rows of a channel become whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack, not_by_channel
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, overlap_by_rows, spatial
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.whole_products import limited, margin_of, too_long
from tilewright.platforms.generic.kernels.whole_weights import SOURCES, unable, whole_lines
from tilewright.platforms.generic.platform import PLATFORM

UNROLLED = 32
"""Products of a result that are written out."""
NUMBERS, MOST = 96, 192
"""Whole numbers on the stack: rows are computed in parts of as many columns as these hold, or stand in scratch where a
single window has more."""


@dataclass(frozen=True)
class WholeDepthwiseContext:
    """Every number of one convolution; strides in elements, weights lie [channel][kh][kw]. For `block` results of a row
    `reach` numbers of `bits` bits are kept of each of their rows; `part` high words of products fit in a word."""

    h: Axis
    w: Axis
    channels: int
    x_channel: int
    reach: int
    block: int
    blocks: int
    on_stack: bool
    bits: int
    part: int
    margin: int
    unrolled: int
    bias: bool
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="whole_depthwise.c.mako", layout=("axes", "channels_last"),
    sources=SOURCES, numerics="1e-5", preference=32, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeDepthwise(KernelMethods):
    """Row by row and channel by channel: the rows of its windows as whole numbers below the largest of them."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights that are finite, as many groups as channels with one result each."""
        if (refused := cannot_repack(call) or empty(call) or not_by_channel(call, single=True)) is not None:
            return refused
        return too_long(call.constants[1][0].size) or unable(call.constants[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as whole numbers; the bias as it is."""
        call = operands.call
        weights = spatial(call)[0]
        bias = [Constant("b", DType.F32, call.constants[2].reshape(-1))] if 2 in call.constants else []
        return (*whole_lines(weights.reshape(len(weights), -1)), *bias)

    def scratch(self, operands: Operands) -> int:
        """Rows whose windows are too large for the stack."""
        k = self.context(operands)
        return 0 if k.on_stack else 4 * k.h.kernel * k.reach

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read, where the operand's channels are innermost."""
        numbers = self.context(operands)
        return overlap_by_rows(operands, numbers.h, numbers.w)

    def cost(self, call: Call) -> float:
        """Products, results, and what becomes whole numbers for every row of results."""
        kernel = call.shape(1)[2:]
        taps, rows = int(np.prod(kernel)), kernel[0] if len(kernel) == 2 else 1
        return float(call.outputs[0].elements * (5 * taps + 22 * rows + 80))

    def context(self, operands: Operands) -> WholeDepthwiseContext:
        """The numbers of rows and windows."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        taps, wide = h.kernel * w.kernel, (w.kernel - 1) * w.dilation + 1
        on_stack = h.kernel * wide <= MOST
        most = max(1, (NUMBERS // h.kernel - wide) // w.stride + 1) if on_stack else w.out
        blocks = -(-w.out // most)
        block = -(-w.out // blocks)
        bits, part = (30, 8) if taps <= 8 else (29, 16)
        return WholeDepthwiseContext(
            h, w, call.shape(0)[1], x_channel, (block - 1) * w.stride + wide, block, -(-w.out // block), on_stack,
            bits, part, margin_of(taps), UNROLLED, 2 in call.constants, limited("v", call.node.clamp),
        )  # fmt: skip
