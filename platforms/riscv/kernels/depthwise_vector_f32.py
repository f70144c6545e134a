"""Float depthwise convolution on cores with vectors: two pixels times thirty-two channels at once, or six by sixteen.

Weights lie [kh][kw][channel]. A tap loads the weights of the channels once for all pixels of a block; taps outside of
the image are left out, pixel by pixel at the borders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack, not_by_channel
from tilewright.platforms.generic.kernels.blocks_f32 import starts
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, overlap_by_rows, spatial
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.float_text import limit_texts
from tilewright.platforms.riscv.platform import PLATFORM

NARROW, WIDE = (16, 6), (32, 2)
"""Channels and pixels of a block, in vectors of four registers or of eight."""


@dataclass(frozen=True)
class DepthwiseVectorContext:
    """Every number of one convolution; `sums` are the first registers of pixels that are computed at once."""

    h: Axis
    w: Axis
    channels: int
    lanes: int
    group: int
    sums: tuple[str, ...]
    low: str
    high: str

    @property
    def counts(self) -> tuple[int, ...]:
        """Pixels of blocks, several where a row has as many with all columns, and one."""
        return tuple(sorted({len(self.sums), 1}, reverse=True))

    @property
    def weights(self) -> str:
        """The register of a tap's weights."""
        return f"v{32 - self.group}" if self.group == 8 else "v4"


def block_of(channels: int, inner: int) -> tuple[int, int]:
    """Channels and pixels of a block."""
    lanes, pixels = NARROW if channels <= NARROW[0] else WIDE
    return lanes, max(1, min(pixels, inner))


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="depthwise_vector_f32.c.mako", layout="channels_last",
    numerics="1e-5", preference=30, requires=Needs(has=("fpu", "rvv")),
)  # fmt: skip
class DepthwiseVectorF32(KernelMethods):
    """Float depthwise convolution in vectors of channels."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, as many groups as channels with one result each, batch 1, at most two spatial axes."""
        return cannot_repack(call) or empty(call) or not_by_channel(call, single=True)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights with the channel innermost, and where sums start."""
        call = operands.call
        weights = spatial(call)[0]
        packed = np.ascontiguousarray(weights[:, 0].transpose(1, 2, 0), np.float32).reshape(-1)
        return (Constant("w", DType.F32, packed), Constant("b", DType.F32, starts(call, len(weights))))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        numbers = self.context(operands)
        return overlap_by_rows(operands, numbers.h, numbers.w)

    def cost(self, call: Call) -> float:
        """Four instructions for a tap of a vector of channels of one pixel, fifteen beside."""
        y, taps = call.outputs[0], call.constants[1][0].size
        lanes, _ = block_of(call.shape(0)[1], y.shape[-1])
        vectors = -(-call.shape(0)[1] // lanes)
        return float(y.elements // y.shape[1] * vectors * (4.5 * taps + 15.0))

    def context(self, operands: Operands) -> DepthwiseVectorContext:
        """The registers of both kinds of blocks."""
        call = operands.call
        h, w, _ = operand_axes(operands)
        channels = call.shape(0)[1]
        lanes, pixels = block_of(channels, w.inner_last - w.inner_first)
        group = lanes // 4
        low, high = limit_texts(call.node.clamp)
        sums = tuple(f"v{8 + group * pixel}" for pixel in range(pixels))
        return DepthwiseVectorContext(h, w, channels, lanes, group, sums, low, high)
