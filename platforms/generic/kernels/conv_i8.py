"""Integer convolution in register blocks: some neighbouring pixels times some output channels, int32 accumulators.

Input zero points are folded into the start of the sums. Taps that padding leaves out read a row of zero points, so
that the folded start stays right everywhere. Weights lie [channel][kh][kw][ic]: a block is a few dot products side by
side, which vector units take as pairs and scalar cores keep in registers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, centred, proof, requantise, too_wide
from tilewright.operators import conv_window
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import (
    Axis,
    Block,
    Groups,
    axis,
    cannot_repack,
    channel_blocks,
    groups_of,
    joined,
)
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps, row_steps
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "qi8|qu8|qi16|qu16, qi8|qu8|qi4|qu4|qi16, i32|i64? -> qi8|qu8|qi16|qu16"


@dataclass(frozen=True)
class Shape:
    """How many pixels and how many output channels a block computes at once, and the attribute that keeps it so."""

    pixels: int
    width: int
    attribute: str


HOST = Shape(4, 2, ATTRIBUTE)


@dataclass(frozen=True)
class ConvI8Context:
    """Every number of one integer convolution; strides in elements."""

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    h: Axis
    w: Axis
    groups: Groups
    depth: int
    pixels: int
    blocks: tuple[Block, ...]
    padded: bool
    pointwise: bool
    contiguous: bool
    requantise: Requantiser


def accepts(call: Call) -> str | None:
    """Constant weights and bias, batch 1, one or two spatial axes, a requantisation that fits."""
    return cannot_repack(call) or too_wide(proof(call))


def weights_of(call: Call) -> tuple[Array, DType]:
    """Weights minus their zero point, in eight bits where they fit, else in sixteen; rank four for convolutions."""
    values = centred(call.tensor(1), call.constants[1])
    dtype = DType.I8 if values.min(initial=0) >= -128 and values.max(initial=0) <= 127 else DType.I16
    return values.astype(dtype.numpy), dtype


def spatial_axes(call: Call, x_strides: tuple[int, int]) -> tuple[Axis, Axis]:
    """Rows and columns; a convolution with one spatial axis has one row."""
    window = conv_window(call)
    parts = list(zip(window.kernel, window.strides, window.dilations, window.begins, strict=True))
    x_shape, y_shape = call.shape(0)[2:], call.outputs[0].shape[2:]
    if len(parts) == 1:
        parts = [(1, 1, 1, 0), *parts]
        x_shape, y_shape = (1, *x_shape), (1, *y_shape)
    h, w = (
        axis(size, out, k, s, d, p, step)
        for size, out, (k, s, d, p), step in zip(x_shape, y_shape, parts, x_strides, strict=True)
    )
    return joined(h, w)


def pad_row(call: Call, h: Axis, w: Axis, channels: int, pixels: int) -> tuple[Constant, ...]:
    """A run of input zero points as long as the longest run that a block reads; nothing where there is no padding."""
    if not is_padded(h, w):
        return ()
    x = call.tensor(0)
    assert x.quantisation is not None
    reach = ((pixels - 1) * w.stride + (w.kernel - 1) * w.dilation) * w.x_stride + channels
    return (Constant("pad", x.dtype, np.full(reach, x.quantisation.zero_point[0], x.dtype.numpy)),)


def is_padded(h: Axis, w: Axis) -> bool:
    """True where some result's window reaches over the edge of the input."""
    return h.inner_first > 0 or h.inner_last < h.out or w.inner_first > 0 or w.inner_last < w.out


def block_width(channels: int, shape: Shape) -> int:
    """Output channels per block: the shape's, or all where there are fewer."""
    return min(channels, shape.width)


def conv_constants(operands: Operands, shape: Shape) -> tuple[Constant, ...]:
    """Packed weights, folded starts, requantisation, and the pad row."""
    call = operands.call
    weights, dtype = weights_of(call)
    if weights.ndim == 3:
        weights = weights[:, :, None, :]
    packed = np.moveaxis(weights, 1, -1).reshape(-1)
    channels = weights.shape[1]
    h, w = spatial_axes(call, strides_of(call))
    start = np.asarray(accumulator(call).start, np.int32)
    requantisation = requantise(proof(call)).constants
    return (
        Constant("w", dtype, packed),
        Constant("b", DType.I32, start),
        *requantisation,
        *pad_row(call, h, w, channels, _pixels(w, shape)),
    )


def conv_context(operands: Operands, shape: Shape, shifts: DType = DType.I8) -> ConvI8Context:
    """The numbers of the block; `shifts` is the type of shifts per channel."""
    call = operands.call
    _, dtype = weights_of(call)
    h, w = spatial_axes(call, strides_of(call))
    groups = groups_of(call)
    depth = groups.weights // groups.results
    return ConvI8Context(
        attribute=shape.attribute,
        x_type=C_TYPES[call.tensor(0).dtype],
        w_type=C_TYPES[dtype],
        y_type=C_TYPES[call.outputs[0].dtype],
        h=h,
        w=w,
        groups=groups,
        depth=depth,
        pixels=_pixels(w, shape),
        blocks=channel_blocks(groups.results, depth, block_width(groups.results, shape)),
        padded=is_padded(h, w),
        pointwise=is_pointwise(h, w) and groups.count == 1,
        contiguous=w.dilation == 1 and groups.count == 1,
        requantise=requantise(proof(call), shifts),
    )


def _pixels(w: Axis, shape: Shape) -> int:
    return min(shape.pixels, max(1, w.inner_last - w.inner_first))


def conv_overlap(operands: Operands, shape: Shape) -> tuple[tuple[int, int, int], ...]:
    """Gap of a kernel that goes row by row, or by blocks of pixels where it is pointwise."""
    call = operands.call
    if call.integer("group", 1) != 1:
        return ()
    x, y = call.tensor(0), call.outputs[0]
    h, w = spatial_axes(call, strides_of(call))
    sizes = (y.shape[1], x.dtype.bits // 8, y.dtype.bits // 8)
    if is_pointwise(h, w):
        steps = patch_steps(h, w, _pixels(w, shape), *sizes)
    else:
        steps = row_steps(h, w, *sizes)
    return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)


def is_pointwise(h: Axis, w: Axis) -> bool:
    """One long row without padding: the loops run over pixels first, then over channels."""
    return h.out == 1 and h.kernel == 1 and w.kernel == 1 and not is_padded(h, w)


def strides_of(call: Call) -> tuple[int, int]:
    """Element strides of rows and columns, channels innermost."""
    shape = call.shape(0)
    return (shape[-1] * shape[1], shape[1])


@PLATFORM.kernel(
    "Conv", types=TYPES, template="conv_i8.c.mako", layout="channels_last", sources=["vectorised.h", *ROUNDING],
    preference=10,
)  # fmt: skip
class ConvI8(KernelMethods):
    """Register-blocked integer convolution, one or two spatial axes, any group."""

    def accepts(self, call: Call) -> str | None:
        """What every integer convolution asks for."""
        return accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in their natural order."""
        return conv_constants(operands, HOST)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that they and later ones read."""
        return conv_overlap(operands, HOST)

    def context(self, operands: Operands) -> ConvI8Context:
        """Blocks of four pixels and two channels."""
        return conv_context(operands, HOST)
