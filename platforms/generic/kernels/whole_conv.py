"""Convolutions of floats where there is no float unit: windows and weights as whole numbers, some pixels at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Layout, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, axis, cannot_repack, groups_of, joined
from tilewright.platforms.generic.kernels.conv_f32 import spatial
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps
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
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        if call.integer("group", 1) != 1 or operands.layout(x) != Layout.channels_last(x.shape):
            return ()
        numbers = self.context(operands)
        if numbers.h.out == 1:
            return ()
        steps = row_steps(numbers.h, numbers.w, y.shape[1], 4, 4)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)

    def cost(self, call: Call) -> float:
        """Nine instructions a product, and what becomes whole numbers."""
        weights = call.constants[1]
        results, length = weights.shape[0] // call.integer("group", 1), weights[0].size
        at_once = line_of(length, call.outputs[0].shape[-1]).at_once
        return float(call.outputs[0].elements * (length * (10 + 22 / at_once + 35 / results) + 150))

    def context(self, operands: Operands) -> WholeConvContext:
        """The numbers of windows and rows."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        _, axes = spatial(call)
        strides = operands.layout(x).axis_strides(x.shape)
        assert strides is not None
        x_shape, y_shape, x_strides = x.shape[2:], y.shape[2:], strides[2:]
        if len(x_shape) == 1:
            x_shape, y_shape, x_strides = (1, *x_shape), (1, *y_shape), (0, *x_strides)
        h, w = joined(
            *(
                axis(size, out, k, s, d, p, step)
                for size, out, (k, s, d, p), step in zip(x_shape, y_shape, axes, x_strides, strict=True)
            )
        )
        groups = groups_of(call)
        x_channel = strides[1] if x.shape[1] > 1 else 1
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
