"""Float convolution on cores with a floating-point unit: six pixels by four channels in registers.

Twenty-four sums, four weights and a pixel's input fill twenty-nine of the thirty-two registers: 36 instructions for 24
multiply-accumulates. The pixels of a block lie anywhere: each brings a list of where its inputs start. Inside the image
that is a run for every row of the window; across the border a run for every tap, zeros for those outside, or a copy of
the window where a tap has few inputs. The same block computes all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Layout, Needs, Operands, Work
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack, joined
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS, in_blocks, starts
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, spatial
from tilewright.platforms.generic.kernels.float_text import limit_texts
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class ConvWork(Work):
    """Multiply-accumulates, results, and taps of a pixel."""

    products: float
    results: float
    taps: float


WIDTH = 4
"""Channels of a block."""
PIXELS = (6, 3)
"""Pixels of a block; the smaller one where few are left."""
FEW = 8
"""Inputs of a tap below which a window across the border is copied."""
PRICES = ConvWork(products=1.6, results=5.0, taps=60.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class Blocks:
    """`count` blocks of `pixels` neighbours from pixel 0 on, or one that ends with the last pixel."""

    pixels: int
    first: int
    count: int


@dataclass(frozen=True)
class ConvContext:
    """Every number of one convolution; strides in elements.

    `runs` says that a row of an inner window is one run of inputs, `padded` that some windows cross the border, and
    `copied` that the windows which are no runs are copied into scratch. `vectors`: by sixteen channels.
    """

    h: Axis
    w: Axis
    channels: int
    x_channel: int
    runs: bool
    padded: bool
    copied: bool
    out_channels: int
    blocks: tuple[Blocks, ...]
    low: str
    high: str
    vectors: bool


def blocks_of(results: int) -> tuple[Blocks, ...]:
    """Blocks over `results` pixels, single ones where there are fewer than a block; the last may compute some again."""
    large, small = PIXELS
    if results < small:
        return (Blocks(1, 0, results),)
    if results < large:
        blocks = [Blocks(small, 0, 1)]
        return (*blocks, Blocks(small, results - small, 1)) if results > small else tuple(blocks)
    count, rest = divmod(results, large)
    whole = Blocks(large, 0, count)
    if not rest:
        return (whole,)
    pixels = small if rest <= small else large
    return whole, Blocks(pixels, results - pixels, 1)


def refused(call: Call) -> str | None:
    """None for constant weights, one group, batch 1 and at most two spatial axes."""
    if (reason := cannot_repack(call)) is not None:
        return reason
    return "the kernel handles one group" if call.integer("group", 1) != 1 else None


def flat_weights(call: Call) -> Array:
    """[channel][kh, kw, input]."""
    weights, _ = spatial(call)
    return weights.transpose(0, 2, 3, 1).reshape(weights.shape[0], -1)


def zeros_outside(numbers: ConvContext) -> tuple[Constant, ...]:
    """What taps outside of the image read, where windows are not copied."""
    needed = numbers.padded and not numbers.copied
    return (Constant("pad", DType.F32, np.zeros(numbers.channels, np.float32)),) if needed else ()


def copied_bytes(call: Call, numbers: ConvContext) -> int:
    """Copied windows of a block."""
    return 4 * PIXELS[0] * int(call.constants[1][0].size) if numbers.copied else 0


def overlap_of(operands: Operands, numbers: ConvContext) -> tuple[tuple[int, int, int], ...]:
    """Blocks are written after all that later ones read, where the operand's channels are innermost."""
    x = operands.call.tensor(0)
    if operands.layout(x) != Layout.channels_last(x.shape):
        return ()
    h, w = numbers.h, numbers.w
    steps = patch_steps(h, w, min(PIXELS[0], h.out * w.out), numbers.out_channels, 4, 4)
    return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)


def work_of(call: Call, lanes: int) -> ConvWork:
    """Products, results, and the lists of taps; a narrow block of channels takes as long as one of all `lanes`."""
    weights, y = call.constants[1], call.outputs[0]
    pixels = sum(block.pixels * block.count for block in blocks_of(y.elements // y.shape[1]))
    results = pixels * -(-y.shape[1] // lanes) * lanes
    taps = pixels * (weights[0, 0].size if weights[0, 0].size > 1 else 0)
    return ConvWork(products=results * weights[0].size, results=results, taps=taps / PIXELS[0])


def context_of(operands: Operands, *, vectors: bool) -> ConvContext:
    """The numbers of the layer."""
    call = operands.call
    h, w, x_channel = operand_axes(operands)
    h, w = joined(h, w)
    channels = call.shape(0)[1]
    runs = x_channel == 1 and (w.kernel == 1 or (w.dilation == 1 and w.x_stride == channels))
    padded = (h.inner_first, h.inner_last, w.inner_first, w.inner_last) != (0, h.out, 0, w.out)
    low, high = limit_texts(call.node.clamp)
    return ConvContext(
        h=h,
        w=w,
        channels=channels,
        x_channel=x_channel,
        runs=runs,
        padded=padded,
        copied=x_channel != 1 or (channels < FEW and (padded or not runs)),
        out_channels=call.outputs[0].shape[1],
        blocks=blocks_of(h.out * w.out),
        low=low,
        high=high,
        vectors=vectors,
    )


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="conv_f32.c.mako", layout=("axes", "channels_last"),
    sources=[REGISTERS, "blocks_f32.h"], numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class ConvBlockF32(KernelMethods):
    """Float convolution of one group: six pixels by four channels in registers."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, one group, batch 1, at most two spatial axes, three results of a channel or more."""
        y = call.outputs[0]
        if (reason := refused(call)) is not None:
            return reason
        pixels = y.elements // y.shape[1]
        return None if pixels >= PIXELS[-1] else f"{pixels} results of a channel, the kernel computes three at once"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by four channels, and zeros for taps outside."""
        call = operands.call
        flat = flat_weights(call)
        packed = Constant("w", DType.F32, in_blocks(flat, starts(call, flat.shape[0]), WIDTH))
        return (packed, *zeros_outside(self.context(operands)))

    def scratch(self, operands: Operands) -> int:
        """Copied windows of a block."""
        return copied_bytes(operands.call, self.context(operands))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Blocks are written after all that later ones read, where the operand's channels are innermost."""
        return overlap_of(operands, self.context(operands))

    def cost(self, call: Call) -> float:
        """Products, results, and the lists of taps."""
        return work_of(call, WIDTH).priced(PRICES)

    def context(self, operands: Operands) -> ConvContext:
        """The numbers of the layer."""
        return context_of(operands, vectors=False)
