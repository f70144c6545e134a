"""Integer convolution with short sums: vectors of output channels, weights widened to 32 bits, pixels read in place.

Sums of fewer than some dozen terms are too short for dot products; four times their few weights buy half the
instructions or more. Nothing is gathered, so there is no scratch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import ROUNDING, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import conv_f32, conv_i8
from tilewright.platforms.generic.kernels.blocks import pack_weights
from tilewright.platforms.generic.kernels.conv_i8 import ConvI8Context, Shape
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps, row_steps
from tilewright.platforms.generic.kernels.vectors import pixel_counts, pixels_text
from tilewright.platforms.generic.platform import PLATFORM

SHORTEST, NARROWEST, POINTWISE = 48, 8, 4


@dataclass(frozen=True)
class ShortContext:
    """The numbers of the convolution, its requantisation with shifts of 32 bits, and the pixels of a block as C."""

    conv: ConvI8Context
    pixels: str


def _run(call: Call) -> int:
    """Pixels of a row whose window lies inside the input; of a pointwise one a few, since its result follows close."""
    h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    run = w.inner_last - w.inner_first
    return min(run, POINTWISE) if conv_i8.is_pointwise(h, w) else run


def _shape(call: Call) -> Shape:
    """Blocks as wide as those of floats; as many pixels as the largest block of any vector length has."""
    width = conv_f32.block_width(call.outputs[0].shape[1] // call.integer("group", 1))
    return Shape(max(pixel_counts(width, _run(call))), width, ATTRIBUTE)


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="conv_short_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", *ROUNDING], preference=16, requires=Needs(has=("simd",)),
)  # fmt: skip
class ConvShortI8(KernelMethods):
    """Integer convolution whose sums have few terms."""

    def accepts(self, call: Call) -> str | None:
        """Short sums, and at least eight output channels in a group."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        depth = call.tensor(1).elements // call.tensor(1).shape[0]
        channels = call.outputs[0].shape[1] // call.integer("group", 1)
        if depth >= SHORTEST or channels < NARROWEST:
            return f"sums of {depth} terms for {channels} channels in a group, the kernel pays below {SHORTEST} terms"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of output channels, folded starts, requantisation, and the pad row."""
        call = operands.call
        shape = _shape(call)
        weights, _ = conv_i8.weights_of(call)
        square = weights.reshape(weights.shape[0], weights.shape[1], -1, weights.shape[-1]).astype(np.int32)
        group = weights.shape[0] // call.integer("group", 1)
        parts = [pack_weights(square[at : at + group], shape.width) for at in range(0, weights.shape[0], group)]
        start = np.asarray(accumulator(call).start, np.int32)
        requantisation = requantise(proof(call), DType.I32).constants
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        return (
            Constant("w", DType.I32, np.concatenate(parts)), Constant("b", DType.I32, start), *requantisation,
            *conv_i8.pad_row(call, h, w, weights.shape[1], shape.pixels),
        )  # fmt: skip

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Row by row; a pointwise one by blocks of pixels, whatever their number."""
        call = operands.call
        if call.integer("group", 1) != 1:
            return ()
        x, y = call.tensor(0), call.outputs[0]
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        sizes = (y.shape[1], x.dtype.bits // 8, y.dtype.bits // 8)
        counts = pixel_counts(_shape(call).width, _run(call))
        pointwise = conv_i8.is_pointwise(h, w)
        steps = [patch_steps(h, w, n, *sizes) for n in counts] if pointwise else [row_steps(h, w, *sizes)]
        return ((0, 0, max(gap_bytes(*step, reads_before_writing=False) for step in steps)),)

    def cost(self, call: Call) -> float:
        """About half an instruction per multiply-accumulate."""
        return 0.5 * call.outputs[0].elements * call.tensor(1).elements / call.tensor(1).shape[0]

    def context(self, operands: Operands) -> ShortContext:
        """The numbers of the block."""
        call = operands.call
        shape = _shape(call)
        return ShortContext(conv_i8.conv_context(operands, shape, DType.I32), pixels_text(shape.width, _run(call)))
