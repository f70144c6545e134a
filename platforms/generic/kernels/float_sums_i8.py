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
from tilewright.codegen.c_types import C_TYPES
from tilewright.ops.quantised_linear import accumulator, proof
from tilewright.platform import Array, Call, Constant, DType, Operands
from tilewright.platforms.generic.kernels import conv_f32, conv_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Block, channel_blocks, pack_weights
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.overlap import gap_bytes
from tilewright.platforms.generic.kernels.requantise_real import RealForm, real_form
from tilewright.platforms.generic.kernels.requantise_text import RequantiseText, requantise_text
from tilewright.platforms.generic.kernels.vectors import pixels_text
from tilewright.platforms.generic.platform import PLATFORM

LARGEST = 1 << 24
NARROWEST = 8
LONGEST_ROW = 10240
DEPTHWISE_WIDTH = 16
REQUIRES = ("simd", "--optimize speed")


@dataclass(frozen=True)
class FloatSumsContext:
    """Every number of one convolution; `ring` rows of `ring_row` floats, the first pixel behind `left` zeros."""

    attribute: str
    x_type: str
    y_type: str
    h: Axis
    w: Axis
    depthwise: bool
    groups: int
    channels: int
    x_channels: int
    contiguous: bool
    out_group: int
    out_channels: int
    weights_group: int
    blocks: tuple[Block, ...]
    pixels: tuple[str, ...]
    zero: int
    ring: int
    ring_row: int
    left: int
    right: int
    real: RealForm | None
    requantise: RequantiseText


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


def scratch_bytes(h: Axis, w: Axis) -> int:
    """The ring."""
    return 4 * ring_rows(h) * (w.pad + w.size + right_columns(w)) * w.x_stride


def float_constants(call: Call, packed: Array) -> tuple[Constant, ...]:
    """Weights as floats; requantisation in double precision, or the bias of plain sums and that in integers."""
    weights = Constant("w", DType.F32, packed.astype(np.float32))
    if (real := real_of(call)) is not None:
        return (weights, *real.constants())
    bias = np.asarray(accumulator(call).bias, np.int32)
    _, requantisation = requantise_text(proof(call), call.outputs[0].shape[1], DType.I32)
    return (weights, Constant("b", DType.I32, bias), *requantisation)


def real_of(call: Call) -> RealForm | None:
    """The requantisation in double precision where it is proved."""
    return real_form(proof(call), accumulator(call).bias)


def ring_overlap(call: Call) -> tuple[tuple[int, int, int], ...]:
    """Rows are converted, all that an output row reads, before it is written."""
    x, y = call.tensor(0), call.outputs[0]
    h, w = axes(call)
    rows = np.arange(h.out, dtype=np.int64)
    write_end = (rows + 1) * w.out * y.shape[1] * (y.dtype.bits // 8)
    before = np.clip((rows - 1) * h.stride - h.pad + ring_rows(h), 0, h.size)
    before[0] = 0
    read_first = before * h.x_stride * (x.dtype.bits // 8)
    return ((0, 0, gap_bytes(write_end, read_first, reads_before_writing=True)),)


def float_context(call: Call, blocks: tuple[Block, ...], *, depthwise: bool) -> FloatSumsContext:
    """The numbers of the ring and of the blocks."""
    x, y = call.tensor(0), call.outputs[0]
    assert x.quantisation is not None
    h, w = axes(call)
    groups, channels = call.integer("group", 1), call.tensor(1).shape[1]
    right = right_columns(w)
    text, _ = requantise_text(proof(call), y.shape[1], DType.I32)
    return FloatSumsContext(
        attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], y_type=C_TYPES[y.dtype], h=h, w=w,
        depthwise=depthwise, groups=groups,
        channels=channels, x_channels=x.shape[1], contiguous=groups == 1 and w.dilation == 1,
        out_group=y.shape[1] // groups, out_channels=y.shape[1],
        weights_group=y.shape[1] // groups * channels * h.kernel * w.kernel, blocks=blocks,
        pixels=tuple(pixels_text(block.width, w.out, broadcasts=not depthwise) for block in blocks),
        zero=x.quantisation.zero_point[0], ring=ring_rows(h),
        ring_row=(w.pad + w.size + right) * w.x_stride, left=w.pad * w.x_stride, right=right * w.x_stride,
        real=real_of(call), requantise=text,
    )  # fmt: skip


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="float_sums_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", "half_even.h"], preference=30, requires=REQUIRES,
)  # fmt: skip
class ConvFloatSumsI8:
    """Integer convolution with proved exact sums in floats."""

    def accepts(self, call: Call) -> str | None:
        """At least eight output channels per group, and sums that floats hold."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        per_group = call.outputs[0].shape[1] // call.integer("group", 1)
        if per_group < NARROWEST:
            return f"{per_group} output channels in a group, the kernel pays from {NARROWEST} on"
        return too_large(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights repacked by group and block."""
        call = operands.call
        weights, _ = conv_i8.weights_of(call)
        square = weights.reshape(weights.shape[0], weights.shape[1], -1, weights.shape[-1])
        per_group = weights.shape[0] // call.integer("group", 1)
        width = conv_f32.block_width(per_group)
        parts = [pack_weights(square[at : at + per_group], width) for at in range(0, weights.shape[0], per_group)]
        return float_constants(call, np.concatenate(parts))

    def scratch(self, operands: Operands) -> int:
        """The converted rows."""
        return scratch_bytes(*axes(operands.call))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """See `ring_overlap`; several groups read a row again."""
        return ring_overlap(operands.call)

    def cost(self, call: Call) -> float:
        """About a fifth of an instruction per multiply-accumulate, two for a result."""
        return (0.2 * prod(call.tensor(1).shape[1:]) + 2) * call.outputs[0].elements

    def context(self, operands: Operands) -> FloatSumsContext:
        """The numbers of the block."""
        call = operands.call
        per_group = call.outputs[0].shape[1] // call.integer("group", 1)
        per_channel = call.tensor(1).elements // call.tensor(1).shape[0]
        blocks = channel_blocks(per_group, per_channel, conv_f32.block_width(per_group))
        return float_context(call, blocks, depthwise=False)


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="float_sums_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", "half_even.h"], preference=31, requires=REQUIRES,
)  # fmt: skip
class DepthwiseFloatSumsI8:
    """Integer depthwise convolution with proved exact sums in floats."""

    def accepts(self, call: Call) -> str | None:
        """At least eight channels, and sums that floats hold."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        if not is_depthwise(call) or call.shape(0)[1] < NARROWEST:
            return f"the kernel handles as many groups as channels, with one result each, from {NARROWEST} channels on"
        return too_large(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights with the channel innermost."""
        weights, _ = conv_i8.weights_of(operands.call)
        return float_constants(operands.call, weights.reshape(weights.shape[0], -1).T.reshape(-1))

    def scratch(self, operands: Operands) -> int:
        """The converted rows."""
        return scratch_bytes(*axes(operands.call))

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """See `ring_overlap`."""
        return ring_overlap(operands.call)

    def cost(self, call: Call) -> float:
        """About a fifth of an instruction per multiply-accumulate, two for a result."""
        return (0.2 * prod(call.tensor(1).shape[1:]) + 2) * call.outputs[0].elements

    def context(self, operands: Operands) -> FloatSumsContext:
        """Blocks of sixteen channels."""
        channels = operands.call.shape(0)[1]
        blocks = channel_blocks(channels, 0, min(DEPTHWISE_WIDTH, channels))
        return float_context(operands.call, blocks, depthwise=True)
