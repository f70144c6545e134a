"""Convolutions of floats where there is no float unit: windows and weights as whole numbers, some pixels at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, cannot_repack, groups_of, joined
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, rows_overlap, spatial
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.whole_products import BARE, SOURCES, Line, limited, line_of, too_long, tops_of
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class WholeConvContext:
    """Every number of one convolution; strides in elements, weights lie [result][kh][kw][channel]."""

    line: Line
    h: Axis
    w: Axis
    groups: Groups
    x_group: int
    x_channel: int
    bias: bool
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="whole_conv.c.mako", layout=("axes", "channels_last"),
    sources=SOURCES, numerics="1e-5", preference=30, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeConv(KernelMethods):
    """Windows of some pixels as whole numbers, times the weights of one result after the other; any group."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, at most two spatial axes."""
        return cannot_repack(call) or empty(call) or too_long(call.constants[1][0].size)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in the order in which a window is read; the bias as it is."""
        call = operands.call
        weights = np.ascontiguousarray(spatial(call)[0].transpose(0, 2, 3, 1))
        bias = [Constant("b", DType.F32, call.constants[2].reshape(-1))] if 2 in call.constants else []
        return (Constant("w", DType.F32, weights.reshape(-1)), *bias)

    def scratch(self, operands: Operands) -> int:
        """Some windows and the weights of a result."""
        return self.context(operands).line.size_bytes

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read, where the operand's channels are innermost."""
        numbers = self.context(operands)
        return rows_overlap(operands, numbers.h, numbers.w)

    def cost(self, call: Call) -> float:
        """Nine instructions a product, and what becomes whole numbers."""
        weights = call.constants[1]
        results, length = weights.shape[0] // call.integer("group", 1), weights[0].size
        at_once = line_of(length, call.outputs[0].shape[-1]).at_once
        return float(call.outputs[0].elements * (length * (10 + 22 / at_once + 35 / results) + 150))

    def context(self, operands: Operands) -> WholeConvContext:
        """The numbers of windows and rows."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        h, w = joined(h, w)
        groups = groups_of(call)
        line = line_of(groups.weights // groups.results, w.out)
        return WholeConvContext(
            line, h, w, groups, x_channel * groups.channels, x_channel, 2 in call.constants,
            limited("v", call.node.clamp),
        )  # fmt: skip


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="whole_conv_bare.c.mako", layout=("axes", "channels_last"),
    sources=BARE, numerics="1e-5", preference=28, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class BareWholeConv(KernelMethods):
    """The same without scratch: elements and weights become whole numbers at every product."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, at most two spatial axes."""
        return WHOLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as a window is read and the exponent of the largest of each result; the bias as it is."""
        weights, *bias = WHOLE.constants(operands)
        return (weights, tops_of(weights.values.reshape(operands.call.shape(1)[0], -1)), *bias)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read, where the operand's channels are innermost."""
        return WHOLE.overlap(operands)

    def cost(self, call: Call) -> float:
        """Of every product."""
        return float(call.outputs[0].elements * (55 * call.constants[1][0].size + 150))

    def context(self, operands: Operands) -> WholeConvContext:
        """The numbers of windows and rows."""
        return WHOLE.context(operands)


WHOLE = WholeConv()
