"""Integer convolution with sums in floats, for cores whose vectors multiply floats faster than integers.

A product of codes and a sum of such products are integers; below 2^24 a float holds every one of them, so that a fused
multiply-add never rounds and the order of the sum does not matter. The weights of the node prove the bound, or the
kernel refuses. Input rows are converted once into a ring of as many rows as the window is high, with zero columns at
both ends: no pixel lies at a border. Weights take four times their bytes: `--optimize speed` only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import conv_f32, conv_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Block, Groups, channel_blocks, groups_of, pack_weights
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.overlap import gap_bytes
from tilewright.platforms.generic.kernels.requantise_real import RealForm, real_form
from tilewright.platforms.generic.kernels.vectors import pixels_text
from tilewright.platforms.generic.platform import PLATFORM

LARGEST = 1 << 24
NARROWEST = 8
LONGEST_ROW = 10240
DEPTHWISE_WIDTH = 16


@dataclass(frozen=True)
class FloatSumsContext:
    """Every number of one convolution; `ring` rows of `ring_row` floats, the first pixel behind `left` zeros."""

    attribute: str
    x_type: str
    y_type: str
    h: Axis
    w: Axis
    depthwise: bool
    groups: Groups
    x_channels: int
    contiguous: bool
    blocks: tuple[Block, ...]
    pixels: tuple[str, ...]
    zero: int
    ring: int
    ring_row: int
    left: int
    right: int
    real: RealForm | None
    requantise: Requantiser


def too_large(call: Call) -> str | None:
    """None, or why a float does not hold every partial sum."""
    x = call.tensor(0)
    assert x.quantisation is not None
    weights, _ = conv_i8.weights_of(call)
    reach = max(abs(limit - x.quantisation.zero_point[0]) for limit in x.dtype.range)
    largest = int(np.abs(weights.astype(np.int64)).reshape(weights.shape[0], -1).sum(axis=1).max()) * reach
    return f"a sum could reach {largest}, floats hold integers up to {LARGEST}" if largest > LARGEST else None


def is_depthwise(call: Call) -> bool:
    """As many groups as input and as output channels."""
    channels = call.shape(0)[1]
    return channels > 1 and call.integer("group", 1) == channels == call.outputs[0].shape[1]


def axes(call: Call) -> tuple[Axis, Axis]:
    """Rows and columns; one long row of a pointwise convolution is cut into equal rows that fit the ring."""
    h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    if h.out > 1 or h.kernel * w.kernel * w.stride > 1 or w.out != w.size:
        return h, w
    longest = LONGEST_ROW // (4 * w.x_stride)
    run = max(n for n in range(1, w.out + 1) if w.out % n == 0 and (n <= longest or n == 1))
    rows = w.out // run
    return (
        replace(h, size=rows, out=rows, inner_last=rows, x_stride=run * w.x_stride),
        replace(w, size=run, out=run, inner_last=run),
    )


def ring_rows(h: Axis) -> int:
    """Rows that one output row reads from first to last."""
    return (h.kernel - 1) * h.dilation + 1


def right_columns(w: Axis) -> int:
    """Zero columns behind the last pixel of a row."""
    return max(0, (w.out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - w.pad - w.size)


def float_constants(call: Call, packed: Array) -> tuple[Constant, ...]:
    """Weights as floats; requantisation in double precision, or the bias of plain sums and that in integers."""
    weights = Constant("w", DType.F32, packed.astype(np.float32))
    if (real := real_of(call)) is not None:
        return (weights, *real.constants())
    bias = np.asarray(accumulator(call).bias, np.int32)
    requantisation = requantise(proof(call), DType.I32).constants
    return (weights, Constant("b", DType.I32, bias), *requantisation)


def real_of(call: Call) -> RealForm | None:
    """The requantisation in double precision where it is proved."""
    return real_form(proof(call), accumulator(call).bias)


def side_by_side(call: Call) -> int:
    """Neighbouring output channels that are computed alike: those of a group, or all of a depthwise convolution."""
    groups = groups_of(call)
    return groups.count if is_depthwise(call) else groups.results


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="float_sums_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", *ROUNDING], preference=30, requires=Needs(has=("simd",), optimize="speed"),
)  # fmt: skip
class ConvFloatSumsI8(KernelMethods):
    """Integer convolution with proved exact sums in floats; a depthwise one takes its channels as one block."""

    def accepts(self, call: Call) -> str | None:
        """At least eight output channels side by side, and sums that floats hold."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        if (channels := side_by_side(call)) < NARROWEST:
            return f"{channels} output channels lie side by side, the kernel pays from {NARROWEST} on"
        return too_large(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by group and block, of a depthwise convolution with the channel innermost."""
        call = operands.call
        weights, _ = conv_i8.weights_of(call)
        if is_depthwise(call):
            return float_constants(call, weights.reshape(weights.shape[0], -1).T.reshape(-1))
        square = weights.reshape(weights.shape[0], weights.shape[1], -1, weights.shape[-1])
        step = groups_of(call).results
        parts = [
            pack_weights(square[at : at + step], conv_f32.block_width(step)) for at in range(0, weights.shape[0], step)
        ]
        return float_constants(call, np.concatenate(parts))

    def scratch(self, operands: Operands) -> int:
        """The converted rows."""
        numbers = self.context(operands)
        return 4 * numbers.ring * numbers.ring_row

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are converted, all that an output row reads, before it is written."""
        x, y = operands.call.tensor(0), operands.call.outputs[0]
        h, w = axes(operands.call)
        rows = np.arange(h.out, dtype=np.int64)
        write_end = (rows + 1) * w.out * y.shape[1] * (y.dtype.bits // 8)
        before = np.clip((rows - 1) * h.stride - h.pad + ring_rows(h), 0, h.size)
        before[0] = 0
        read_first = before * h.x_stride * (x.dtype.bits // 8)
        return ((0, 0, gap_bytes(write_end, read_first, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """About a fifth of an instruction per multiply-accumulate, two for a result."""
        return (0.2 * prod(call.tensor(1).shape[1:]) + 2) * call.outputs[0].elements

    def context(self, operands: Operands) -> FloatSumsContext:
        """The numbers of the ring and of the blocks."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        h, w = axes(call)
        groups, depthwise, channels = groups_of(call), is_depthwise(call), side_by_side(call)
        width = min(DEPTHWISE_WIDTH, channels) if depthwise else conv_f32.block_width(channels)
        blocks = channel_blocks(channels, 0 if depthwise else groups.weights // groups.results, width)
        right = right_columns(w)
        return FloatSumsContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], y_type=C_TYPES[y.dtype], h=h, w=w,
            depthwise=depthwise, groups=groups, x_channels=x.shape[1],
            contiguous=groups.count == 1 and w.dilation == 1, blocks=blocks,
            pixels=tuple(pixels_text(block.width, w.out, broadcasts=not depthwise) for block in blocks),
            zero=x.quantisation.zero_point[0], ring=ring_rows(h),
            ring_row=(w.pad + w.size + right) * w.x_stride, left=w.pad * w.x_stride, right=right * w.x_stride,
            real=real_of(call), requantise=requantise(proof(call), DType.I32),
        )  # fmt: skip
