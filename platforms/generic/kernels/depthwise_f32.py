"""Float depthwise convolution in register blocks: some neighbouring pixels times a vector of channels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, Block, axis, cannot_repack, channel_blocks, not_by_channel
from tilewright.platforms.generic.kernels.conv_f32 import spatial
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE, clamp_text
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps
from tilewright.platforms.generic.kernels.vectors import pixels_text
from tilewright.platforms.generic.platform import PLATFORM

WIDTH = 16


@dataclass(frozen=True)
class DepthwiseContext:
    """Every number of one depthwise convolution; weights lie [kh][kw][channel]."""

    attribute: str
    h: Axis
    w: Axis
    channels: int
    blocks: tuple[Block, ...]
    pixels: tuple[str, ...]
    bias: bool
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="depthwise_f32.c.mako", layout="channels_last",
    sources=["vectorised.h"], numerics="1e-5", preference=20,
)  # fmt: skip
class DepthwiseF32(KernelMethods):
    """Float depthwise convolution, one output channel per input channel."""

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels."""
        return not_by_channel(call) or cannot_repack(call)

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights with the channel innermost."""
        call = operands.call
        weights, _ = spatial(call)
        constants = [Constant("w", DType.F32, np.ascontiguousarray(weights[:, 0].transpose(1, 2, 0)).reshape(-1))]
        if 2 in call.constants:
            constants.append(Constant("b", DType.F32, call.constants[2].reshape(-1)))
        return tuple(constants)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        numbers = self.context(operands)
        steps = row_steps(numbers.h, numbers.w, numbers.channels, 4, 4)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)

    def context(self, operands: Operands) -> DepthwiseContext:
        """The numbers of the block."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        _, axes = spatial(call)
        channels = x.shape[1]
        x_shape, y_shape = x.shape[2:], y.shape[2:]
        if len(x_shape) == 1:
            x_shape, y_shape = (1, *x_shape), (1, *y_shape)
        steps = (x_shape[1] * channels, channels)
        h, w = (
            axis(size, out, k, s, d, p, step)
            for size, out, (k, s, d, p), step in zip(x_shape, y_shape, axes, steps, strict=True)
        )
        run = w.inner_last - w.inner_first
        blocks = channel_blocks(channels, 0, min(WIDTH, channels))
        return DepthwiseContext(
            attribute=ATTRIBUTE,
            h=h,
            w=w,
            channels=channels,
            blocks=blocks,
            pixels=tuple(pixels_text(block.width, run, broadcasts=False) for block in blocks),
            bias=2 in call.constants,
            clamp=clamp_text("v", call.node.clamp),
        )
