"""Integer depthwise convolution over blocks of channels: one int32 accumulator per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels import conv_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Block, channel_blocks
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps
from tilewright.platforms.generic.platform import PLATFORM

WIDTH = 32


@dataclass(frozen=True)
class DepthwiseI8Context:
    """Every number of one integer depthwise convolution; weights lie [kh][kw][channel]."""

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    h: Axis
    w: Axis
    channels: int
    blocks: tuple[Block, ...]
    padded: bool
    requantise: Requantiser


def accepts(call: Call, several: bool = False) -> str | None:
    """As many groups as input channels, of one result or `several`, and what every integer convolution asks for."""
    channels = call.shape(0)[1]
    if call.integer("group", 1) != channels or (call.outputs[0].shape[1] != channels and not several) or channels == 1:
        return f"the kernel handles as many groups as channels{'' if several else ', with one result each'}"
    return conv_i8.accepts(call)


def depthwise_constants(operands: Operands, width: int) -> tuple[Constant, ...]:
    """Weights with the channel innermost, folded starts, requantisation, and the pad row."""
    call = operands.call
    weights, dtype = conv_i8.weights_of(call)
    if weights.ndim == 3:
        weights = weights[:, :, None, :]
    channels = weights.shape[0]
    h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    requantisation = requantise(proof(call)).constants
    return (
        Constant("w", dtype, np.ascontiguousarray(weights[:, 0].transpose(1, 2, 0)).reshape(-1)),
        Constant("b", DType.I32, np.asarray(accumulator(call).start, np.int32)),
        *requantisation,
        *conv_i8.pad_row(call, h, w, min(width, channels), 1)[:1],
    )


def depthwise_context(operands: Operands, width: int, attribute: str) -> DepthwiseI8Context:
    """The numbers of the block."""
    call = operands.call
    _, dtype = conv_i8.weights_of(call)
    h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    channels = call.shape(0)[1]
    return DepthwiseI8Context(
        attribute=attribute,
        x_type=C_TYPES[call.tensor(0).dtype],
        w_type=C_TYPES[dtype],
        y_type=C_TYPES[call.outputs[0].dtype],
        h=h,
        w=w,
        channels=channels,
        blocks=channel_blocks(channels, 0, min(width, channels)),
        padded=conv_i8.is_padded(h, w),
        requantise=requantise(proof(call)),
    )


def depthwise_overlap(operands: Operands) -> tuple[tuple[int, int, int], ...]:
    """Gap of a kernel that goes row by row."""
    call = operands.call
    x, y = call.tensor(0), call.outputs[0]
    h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    steps = row_steps(h, w, y.shape[1], x.dtype.bits // 8, y.dtype.bits // 8)
    return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", *ROUNDING], preference=20,
)  # fmt: skip
class DepthwiseI8(KernelMethods):
    """Integer depthwise convolution, one output channel per input channel."""

    def accepts(self, call: Call) -> str | None:
        """What every integer depthwise convolution asks for."""
        return accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights with the channel innermost."""
        return depthwise_constants(operands, WIDTH)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        return depthwise_overlap(operands)

    def context(self, operands: Operands) -> DepthwiseI8Context:
        """Blocks of thirty-two channels: codes of one vector."""
        return depthwise_context(operands, WIDTH, ATTRIBUTE)
