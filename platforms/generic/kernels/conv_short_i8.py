"""Pointwise integer convolution with few input channels: a vector of output channels, weights widened to 32 bits.

Sums of fewer than a dozen terms are too short for dot products; four times their few weights buy half the
instructions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.codegen.c_types import C_TYPES
from tilewright.ops.quantised_linear import accumulator, proof
from tilewright.platform import Call, Constant, DType, Operands
from tilewright.platforms.generic.kernels import conv_i8
from tilewright.platforms.generic.kernels.blocks import Block, channel_blocks, pack_weights
from tilewright.platforms.generic.kernels.dot_i8 import SHORTEST
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps
from tilewright.platforms.generic.kernels.requantise_text import RequantiseText, requantise_text
from tilewright.platforms.generic.platform import PLATFORM

WIDTH = 16


@dataclass(frozen=True)
class ShortContext:
    """`results` pixels of `channels` inputs each; weights lie [block][ic][width]."""

    attribute: str
    x_type: str
    y_type: str
    results: int
    pixels: int
    channels: int
    out_channels: int
    blocks: tuple[Block, ...]
    requantise: RequantiseText


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="conv_short_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", "half_even.h"], preference=12,
)  # fmt: skip
class ConvShortI8:
    """Pointwise integer convolution over few channels."""

    def accepts(self, call: Call) -> str | None:
        """1x1, stride 1, no padding, one group, few input channels and at least eight results."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        channels = call.tensor(1).shape[1]
        if h.kernel != 1 or call.shape(0)[2:] != call.outputs[0].shape[2:]:
            return "the window or the stride leaves pixels out, the kernel handles every pixel by itself"
        if h.out != 1 or w.kernel != 1 or w.stride != 1 or conv_i8.is_padded(h, w) or call.integer("group", 1) != 1:
            return "the kernel handles 1x1 windows with stride 1 in one group"
        if channels >= SHORTEST or call.outputs[0].shape[1] < 8:
            return f"{channels} input channels, the kernel pays below {SHORTEST} and from 8 output channels on"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of output channels, folded starts, requantisation."""
        call = operands.call
        weights, _ = conv_i8.weights_of(call)
        square = weights.reshape(weights.shape[0], weights.shape[1], 1, 1).astype(np.int32)
        start = np.asarray(accumulator(call).start, np.int32)
        _, requantisation = requantise_text(proof(call), weights.shape[0])
        packed = pack_weights(square, min(WIDTH, weights.shape[0]))
        return (Constant("w", DType.I32, packed), Constant("b", DType.I32, start), *requantisation)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """A few pixels at once, all their channels before the next."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        steps = patch_steps(h, w, min(4, w.out), y.shape[1], x.dtype.bits // 8, y.dtype.bits // 8)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)

    def context(self, operands: Operands) -> ShortContext:
        """Blocks of four pixels and sixteen channels."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        results, channels = x.elements // x.shape[1], x.shape[1]
        text, _ = requantise_text(proof(call), y.shape[1])
        return ShortContext(
            attribute=ATTRIBUTE,
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            results=results,
            pixels=min(4, results),
            channels=channels,
            out_channels=y.shape[1],
            blocks=channel_blocks(y.shape[1], channels, min(WIDTH, y.shape[1])),
            requantise=text,
        )
