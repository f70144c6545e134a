"""Depthwise convolutions of floats where there is no float unit: rows of a channel become whole numbers once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, spatial
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.whole_products import SOURCES, Line, limited, line_of, too_long
from tilewright.platforms.generic.platform import PLATFORM

UNROLLED = 9
"""Products of a result that are written out, or of one of its rows."""


@dataclass(frozen=True)
class WholeDepthwiseContext:
    """Every number of one convolution; strides in elements, weights lie [channel][kh][kw]. Of a row `reach` numbers are
    kept from `pad` columns before the image on, `inside` of them from the image, of `span` rows."""

    line: Line
    h: Axis
    w: Axis
    channels: int
    x_channel: int
    reach: int
    inside: int
    span: int
    unrolled: bool
    unrolled_row: bool
    bias: bool
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="whole_depthwise.c.mako", layout=("axes", "channels_last"),
    sources=[*SOURCES, "whole_depthwise.h"], numerics="1e-5", preference=32, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeDepthwise(KernelMethods):
    """Channel by channel: as many rows as a window has as whole numbers, each with the exponent of its own largest."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, as many groups as channels with one result each."""
        if (refused := cannot_repack(call) or empty(call)) is not None:
            return refused
        channels = call.shape(0)[1]
        if call.integer("group", 1) != channels or call.shape(1)[0] != channels:
            return "the kernel handles as many groups as channels, with one result each"
        return too_long(call.constants[1][0].size)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and bias as they are."""
        call = operands.call
        bias = [Constant("b", DType.F32, call.constants[2].reshape(-1))] if 2 in call.constants else []
        return (Constant("w", DType.F32, np.ascontiguousarray(spatial(call)[0]).reshape(-1)), *bias)

    def scratch(self, operands: Operands) -> int:
        """Weights twice, and rows."""
        k = self.context(operands)
        return 4 * (2 * k.line.length + k.span * k.reach)

    def cost(self, call: Call) -> float:
        """Products, results, and what becomes whole numbers."""
        taps, y = call.constants[1][0].size, call.outputs[0]
        return float(y.elements * (9 * taps + 110) + 26 * max(y.elements, call.tensor(0).elements))

    def context(self, operands: Operands) -> WholeDepthwiseContext:
        """The numbers of rows and windows."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        taps = h.kernel * w.kernel
        reach = (w.out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1
        return WholeDepthwiseContext(
            line_of(taps, 1), h, w, call.shape(0)[1], x_channel, reach, max(0, min(w.size, reach - w.pad)),
            (h.kernel - 1) * h.dilation + 1, taps <= UNROLLED, w.kernel <= UNROLLED, 2 in call.constants,
            limited("v", call.node.clamp),
        )  # fmt: skip
