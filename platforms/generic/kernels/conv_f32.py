"""Float convolution in register blocks: some neighbouring pixels times a vector of output channels.

The accumulators stay in vector registers over the whole sum; padding is peeled off, so that the block has no test.
Measured with gcc 12 for x86-64-v3: 0.20 instructions per multiply-accumulate in the blocks of 6 x 16 and 3 x 32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.operators import conv_window
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Layout, Operands
from tilewright.platforms.generic.kernels.blocks import (
    Axis,
    Block,
    Groups,
    axis,
    cannot_repack,
    channel_blocks,
    groups_of,
    joined,
    pack_weights,
)
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE, clamp_text
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps
from tilewright.platforms.generic.kernels.vectors import pixels_text
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class ConvContext:
    """Every number of one convolution. Strides in elements; weights lie [block][kh][kw][ic][width]."""

    attribute: str
    h: Axis
    w: Axis
    groups: Groups
    x_group: int
    x_channel: int
    contiguous: bool
    blocks: tuple[Block, ...]
    pixels: tuple[str, ...]
    bias: bool
    clamp: str


def block_width(channels: int) -> int:
    """Accumulators per pixel: the widest of 32, 16, 8 that divides the channels, else 16 or 8 and a remainder."""
    if channels < 8:
        return channels
    return next((w for w in (32, 16, 8) if channels % w == 0), 16 if channels > 16 else 8)


def spatial(call: Call) -> tuple[Array, tuple[tuple[int, int, int, int], ...]]:
    """Weights as rank four and, per axis, (kernel, stride, dilation, pad before); rank one gets a first axis of 1."""
    weights = call.constants[1]
    window = conv_window(call)
    axes = tuple(zip(window.kernel, window.strides, window.dilations, window.begins, strict=True))
    if len(axes) == 1:
        return weights[:, :, None, :], ((1, 1, 1, 0), *axes)
    return weights, axes


def image_axes(call: Call, strides: tuple[int, ...]) -> tuple[Axis, Axis, int]:
    """Rows, columns, and the stride of channels, for an operand with these strides in elements."""
    x = call.tensor(0)
    _, parts = spatial(call)
    x_shape, y_shape, x_strides = x.shape[2:], call.outputs[0].shape[2:], strides[2:]
    if len(x_shape) == 1:
        x_shape, y_shape, x_strides = (1, *x_shape), (1, *y_shape), (0, *x_strides)
    h, w = (
        axis(size, out, k, s, d, p, step)
        for size, out, (k, s, d, p), step in zip(x_shape, y_shape, parts, x_strides, strict=True)
    )
    return h, w, strides[1] if x.shape[1] > 1 else 1


def operand_axes(operands: Operands) -> tuple[Axis, Axis, int]:
    """`image_axes` of the operand as it lies in memory."""
    x = operands.call.tensor(0)
    strides = operands.layout(x).axis_strides(x.shape)
    assert strides is not None
    return image_axes(operands.call, strides)


def rows_overlap(operands: Operands, h: Axis, w: Axis) -> tuple[tuple[int, int, int], ...]:
    """The overlap of kernels that write rows of one group after all that later ones read."""
    return overlap_by_rows(operands, h, w) if operands.call.integer("group", 1) == 1 else ()


def overlap_by_rows(operands: Operands, h: Axis, w: Axis) -> tuple[tuple[int, int, int], ...]:
    """The same of kernels that write rows of all groups; channels of the operand are innermost."""
    x, y = operands.call.tensor(0), operands.call.outputs[0]
    if operands.layout(x) != Layout.channels_last(x.shape) or h.out == 1:
        return ()
    return ((0, 0, gap_bytes(*row_steps(h, w, y.shape[1], 4, 4), reads_before_writing=False)),)


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="conv_f32.c.mako", layout=("axes", "channels_last"),
    sources=["vectorised.h"], numerics="1e-5", preference=10,
)  # fmt: skip
class ConvF32(KernelMethods):
    """Register-blocked float convolution, one or two spatial axes, any group."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, at most two spatial axes."""
        return cannot_repack(call)

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights repacked by group and block; the bias as it is."""
        call = operands.call
        weights, _ = spatial(call)
        groups = call.integer("group", 1)
        per_group = weights.shape[0] // groups
        width = block_width(per_group)
        packed = np.concatenate(
            [pack_weights(weights[g * per_group : (g + 1) * per_group], width) for g in range(groups)]
        )
        constants = [Constant("w", DType.F32, packed)]
        if 2 in call.constants:
            constants.append(Constant("b", DType.F32, call.constants[2].reshape(-1)))
        return tuple(constants)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read, where the operand's channels are innermost."""
        numbers = self.context(operands)
        return rows_overlap(operands, numbers.h, numbers.w)

    def cost(self, call: Call) -> float:
        """About a fifth of an instruction per multiply-accumulate."""
        weights = call.constants[1]
        return 0.2 * float(call.outputs[0].elements * weights[0].size)

    def context(self, operands: Operands) -> ConvContext:
        """The numbers of the block."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        h, w = joined(h, w)
        groups = groups_of(call)
        blocks = channel_blocks(groups.results, groups.weights // groups.results, block_width(groups.results))
        return ConvContext(
            attribute=ATTRIBUTE,
            h=h,
            w=w,
            groups=groups,
            x_group=x_channel * groups.channels,
            x_channel=x_channel,
            contiguous=x_channel == 1 and w.dilation == 1 and (w.x_stride == groups.channels or w.kernel == 1),
            blocks=blocks,
            pixels=tuple(pixels_text(block.width, w.inner_last - w.inner_first) for block in blocks),
            bias=2 in call.constants,
            clamp=clamp_text("v", call.node.clamp),
        )
