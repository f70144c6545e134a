"""Integer convolution on cores with the vector extension: sixteen products in one instruction.

The inputs of a pixel are read where they lie if they are one run of bytes there, else they are gathered in scratch; so
are those at the edge, and those of the last pixels, whose vectors would reach over the end. Pairs of channels that are
constant are left out as in the scalar kernels. With several groups, those of a pixel are gathered one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import conv_i8, matrix_i8, mve
from tilewright.platforms.cortex_m.kernels.mve import VECTOR
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, groups_of
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps


@dataclass(frozen=True)
class ConvWork(Work):
    """Instructions of pairs of channels; blocks of four pixels; pixels whose windows are looked for; vectors copied;
    pixels at the edge and the vectors of their taps."""

    pair_instructions: float
    blocks: float
    searched_pixels: float
    copied_vectors: float
    edge_pixels: float
    edge_vectors: float


PRICES = ConvWork(
    pair_instructions=1.0, blocks=27.0, searched_pixels=20.0, copied_vectors=2.3, edge_pixels=60.0, edge_vectors=12.0
)
"""Instructions for one unit of each kind of work."""
BYTES_REACH, WORDS_REACH = 127, 508
"""Furthest constant offset of a load of bytes and of words, either way."""
OFFSET = 128
"""What is taken from unsigned codes."""
TYPES = "qi8|qu8, qi8|qu8|qi4|qu4, i32? -> qi8|qu8"
FARTHEST = 4095
"""Largest constant that is subtracted at once."""


@dataclass(frozen=True)
class Reads:
    """How steps of sixteen inputs read a pixel: its pointer stands `ahead` bytes behind its first input, `froms` close
    the addresses, and the pointers go `back` in the end."""

    load: str
    ahead: int
    froms: tuple[str, ...]
    back: tuple[int, ...]


@dataclass(frozen=True)
class MveConvContext:
    """Every number of one convolution; `depth` counts inputs of a pixel, padded to whole vectors, of a group as
    `channels` does; the weights and numbers of a group are `group_words`.

    See `way_of`. Up to `whole`, the last column of a line or byte of the input where a pixel may start, vectors stay
    inside the input; before and behind, a line's `segment` of columns is copied. `places` are those of the results of
    two channels of four pixels.
    """

    x_type: str
    y_type: str
    unsigned: bool
    h: Axis
    w: Axis
    groups: Groups
    group_words: int
    channels: int
    inputs: int
    depth: int
    out_channels: int
    pixels: int
    way: str
    copies: bool
    segment: int
    whole: int
    zero_point: int
    first: int
    places: tuple[int, ...]
    sparse: bool
    reads: Reads
    codes: str
    shift: int


def flat_weights(call: Call) -> Array:
    """[OC, inputs] with zeros up to whole vectors, of each tap where a pixel's taps are read apart."""
    flat = conv_i8.weights_of(call)[:, : window_inputs(call)]
    if way_of(call) != "line" or is_run(call):
        return mve.in_vectors(flat)
    taps = flat.reshape(flat.shape[0], -1, call.shape(0)[1])
    return np.pad(taps, ((0, 0), (0, 0), (0, -taps.shape[2] % VECTOR))).reshape(flat.shape[0], -1)


def window_inputs(call: Call) -> int:
    """Inputs of a pixel, of one group."""
    h, w = matrix_i8.axes_of(call)
    return h.kernel * w.kernel * groups_of(call).channels


def channels_of(call: Call) -> matrix_i8.Channels:
    """The channels in pairs; where there is one group, pairs of constant ones are left out.

    Unsigned codes are copied less `OFFSET`, which the starts give back.
    """
    channels = matrix_i8.channels_of(call, flat_weights(call), sparse=groups_of(call).count == 1)
    if not is_unsigned(call):
        return channels
    return replace(channels, start=channels.start + OFFSET * channels.weights.astype(np.int64).sum(axis=1))


def is_unsigned(call: Call) -> bool:
    """True where codes are made signed while a pixel is copied."""
    return call.tensor(0).dtype is DType.U8


def is_run(call: Call) -> bool:
    """True where the inputs of a pixel are one run of bytes."""
    h, w = matrix_i8.axes_of(call)
    return h.kernel == 1 and (w.dilation == 1 or w.kernel == 1)


def way_of(call: Call) -> str:
    """How pixels are read: `line` where four neighbours stand one behind the other and constants reach all their taps,
    `run` where each is one run of bytes in the input, else `patch`, a copy of its window."""
    h, w = matrix_i8.axes_of(call)
    if groups_of(call).count > 1 or is_unsigned(call):
        return "patch"
    if h.out == h.size == h.kernel == w.stride == 1 and h.pad == 0 and offsets_of(call):
        return "line"
    steps = -(-window_inputs(call) // VECTOR)
    reached = call.shape(0)[1] % 4 == 0 or steps <= 1 + 2 * BYTES_REACH // VECTOR
    return "run" if is_run(call) and reached else "patch"


def offsets_of(call: Call) -> tuple[int, ...]:
    """Where a pixel's steps of sixteen inputs start behind its first input; empty where loads do not reach them all."""
    _, w = matrix_i8.axes_of(call)
    channels = call.shape(0)[1]
    if is_run(call):
        offsets = list(range(0, w.kernel * channels, VECTOR))
    else:
        offsets = [tap * w.dilation * channels + at for tap in range(w.kernel) for at in range(0, channels, VECTOR)]
    farthest = 2 * (WORDS_REACH if channels % 4 == 0 and len(offsets) > 2 else BYTES_REACH) // VECTOR * VECTOR
    return tuple(offsets) if offsets[-1] <= farthest else ()


def reads_of(call: Call) -> Reads:
    """Loads of words where every address is a multiple of four, else of bytes."""
    way = way_of(call)
    offsets = offsets_of(call) if way == "line" else tuple(range(0, window_inputs(call), VECTOR))
    words = len(offsets) > 2 and (call.shape(0)[1] % 4 == 0 or way == "patch")
    load, reach = ("vldrw.32", WORDS_REACH) if words else ("vldrb.8", BYTES_REACH)
    if offsets[-1] > 2 * reach // VECTOR * VECTOR:
        whole = FARTHEST // VECTOR * VECTOR
        parts = [whole] * (len(offsets) * VECTOR // whole)
        rest = len(offsets) * VECTOR - sum(parts)
        return Reads(load, 0, ("], #16",) * len(offsets), (*parts, *([rest] if rest else [])))
    ahead = max(0, offsets[-1] - reach // VECTOR * VECTOR)
    return Reads(load, ahead, tuple(f", #{at - ahead}]" for at in offsets), ())


def line_bytes(call: Call) -> int:
    """Bytes from the first input of four neighbours to the end of the last vector read."""
    return min(3, conv_i8.pixels_of(call) - 1) * call.shape(0)[1] + offsets_of(call)[-1] + VECTOR


def segment_of(call: Call) -> int:
    """Columns that four neighbours read."""
    _, w = matrix_i8.axes_of(call)
    return 4 + (w.kernel - 1) * w.dilation


def is_exact(call: Call) -> bool:
    """True where every pixel of a line is read where it lies."""
    _, w = matrix_i8.axes_of(call)
    return way_of(call) == "line" and w.pad == 0 and max(0, w.out - 4) <= whole_reach(call)


def whole_reach(call: Call) -> int:
    """See `MveConvContext`."""
    h, w = matrix_i8.axes_of(call)
    channels, total = call.shape(0)[1], call.tensor(0).elements
    row = w.kernel * channels + -(w.kernel * channels) % VECTOR
    if way_of(call) == "line":
        last = min(3, w.out - 1) + (w.kernel - 1) * w.dilation
        return min((total - line_bytes(call)) // channels, w.size - 1 - last)
    return total - row - (h.kernel - 1) * h.dilation * h.x_stride


def word_refusal(call: Call) -> str | None:
    """None, or why twice the word of the requantisation has no place in 32 bits."""
    addend = max(map(abs, matrix_i8.fixed_point(call).addend.values))
    if 2 * addend + matrix_i8.largest_sum(call) >= 1 << 31:
        return "twice the word of the requantisation leaves 32 bits"
    return None


def form_of(call: Call) -> tuple[str, int]:
    """`saturated` with the layer's shift, else `limited`."""
    fixed = matrix_i8.fixed_point(call)
    shift = fixed.shift.values[0] + 1
    plain = (fixed.low, fixed.high) == (-128, 127) and fixed.shift.uniform and 1 <= shift <= 16
    return ("SATURATED", shift) if plain else ("LIMITED", 0)


def is_sparse(call: Call, channels: matrix_i8.Channels) -> bool:
    """True where pairs may be left out."""
    return groups_of(call).count == 1 and bool(channels.constant.any())


def numbers_of(call: Call, channels: matrix_i8.Channels) -> Array:
    """[pair, words]: the numbers of the codes. Products are doubled, so these are of twice the word."""
    fixed = matrix_i8.fixed_point(call)
    firsts = np.asarray(channels.pairs)
    form, shift = form_of(call)
    addend, shifts = (part.spread(channels.start.size) for part in (fixed.addend, fixed.shift))
    parts = [channels.start, channels.multiplier, 2 * addend - (1 << shift >> 1)]
    if form == "LIMITED":
        parts = [channels.start, channels.multiplier, 2 * addend, -shifts - 1]
    columns = [part[firsts + side] for part in parts for side in (0, 1)]
    if form == "LIMITED":
        columns += [np.full(firsts.size, fixed.low), np.full(firsts.size, fixed.high)]
    step = np.diff(firsts, append=firsts[-1] - 1)
    groups = groups_of(call)
    if groups.count > 1:
        step[groups.results // 2 - 1 :: groups.results // 2] = -1
    return np.stack([*columns, step], axis=1)


def stream_of(channels: matrix_i8.Channels, numbers: Array) -> Array:
    """uint32 words: for every pair its weights, in the order in which they are multiplied, and its numbers."""
    firsts = np.asarray(channels.pairs)
    split = np.stack([channels.weights[firsts], channels.weights[firsts + 1]], axis=1).reshape(
        firsts.size, 2, -1, VECTOR
    )
    if split.shape[2] == 2:
        split[:, 1] = split[:, 1, ::-1].copy()
    elif split.shape[2] > 2:
        split = split.transpose(0, 2, 1, 3)
    weights = mve.bytes_as_words(split).reshape(firsts.size, -1)
    return np.concatenate([weights, mve.words(numbers).view(np.uint32).reshape(firsts.size, -1)], axis=1).reshape(-1)


def work(call: Call) -> ConvWork:
    """The work of one call."""
    h, w = matrix_i8.axes_of(call)
    groups = groups_of(call)
    pixels, channels, steps = conv_i8.pixels_of(call), groups.channels, flat_weights(call).shape[1] // VECTOR
    pairs = len(channels_of(call).pairs)
    blocks = -(-pixels // 4)
    per_pair = {1: 27.0, 2: 41.0}.get(steps, 14.0 * steps + 17.0) + 5.0 * (form_of(call)[0] == "LIMITED")
    way = way_of(call)
    if way == "line":
        last = whole_reach(call)
        lefts = np.minimum(np.arange(0, pixels, 4), max(pixels - 4, 0)) - w.pad
        edges = int(((lefts < 0) | (lefts > last)).sum()) * segment_of(call)
        return ConvWork(
            pair_instructions=blocks * pairs * per_pair,
            blocks=blocks,
            searched_pixels=0,
            copied_vectors=0,
            edge_pixels=0.25 * edges,
            edge_vectors=edges * -(-channels // VECTOR),
        )
    if groups.count > 1:
        gathered = 4 * blocks * groups.count
        return ConvWork(
            pair_instructions=blocks * pairs * per_pair,
            blocks=blocks * groups.count,
            searched_pixels=gathered,
            copied_vectors=0,
            edge_pixels=0,
            edge_vectors=gathered * h.kernel * w.kernel * -(-channels // VECTOR),
        )
    searched = 4 * blocks
    inner = conv_i8.inner_blocks(h, w, 1) if w.dilation == 1 or w.kernel == 1 else 0
    edges = searched - inner
    copied = inner * h.kernel * -(-w.kernel * channels // VECTOR) if way == "patch" else 0
    return ConvWork(
        pair_instructions=blocks * pairs * per_pair,
        blocks=blocks,
        searched_pixels=searched,
        copied_vectors=copied,
        edge_pixels=edges,
        edge_vectors=edges * h.kernel * w.kernel * -(-channels // VECTOR),
    )


@PLATFORM.kernel(
    "Conv", types=TYPES, template="mve_conv.c.mako", layout="channels_last", sources=["mve.h", "mve_conv.h"],
    preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class ConvMve(KernelMethods):
    """Integer convolution of any window and groups: four pixels by two channels, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the scalar kernel accepts, with words that may be doubled."""
        why = conv_i8.accepts_groups(call) or conv_i8.eight_bits(call)
        return why or matrix_i8.refusal(call) or word_refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The stream of weights and numbers, and codes of constant channels."""
        call = operands.call
        channels = channels_of(call)
        constants = [Constant("stream", DType.U32, stream_of(channels, numbers_of(call, channels)))]
        if is_sparse(call, channels):
            y = call.outputs[0]
            constants.append(Constant("fill", y.dtype, channels.codes.astype(y.dtype.numpy)))
        return tuple(constants)

    def scratch(self, operands: Operands) -> int:
        """The gathered inputs of four pixels, and the end of the last copy of a part."""
        call = operands.call
        if is_exact(call):
            return 0
        channels = call.shape(0)[1]
        if way_of(call) == "line":
            return max(line_bytes(call), segment_of(call) * channels + -channels % VECTOR)
        return 4 * int(flat_weights(call).shape[1]) + VECTOR

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Gathered pixels, and those that stay in registers, are read before their results are written."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        steps = patch_steps(h, w, min(4, h.out * w.out), call.outputs[0].shape[1], 1, 1)
        before = groups_of(call).count == 1 and (flat_weights(call).shape[1] == VECTOR or way_of(call) == "patch")
        return ((0, 0, gap_bytes(*steps, reads_before_writing=before)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> MveConvContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        flat, channels, groups = flat_weights(call), channels_of(call), groups_of(call)
        stream = stream_of(channels, numbers_of(call, channels))
        h, w = matrix_i8.axes_of(call)
        pixels, out_channels = h.out * w.out, y.shape[1]
        codes, shift = form_of(call)
        return MveConvContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=is_unsigned(call),
            h=h,
            w=w,
            groups=groups,
            group_words=stream.size // groups.count,
            channels=groups.channels,
            inputs=window_inputs(call),
            depth=flat.shape[1],
            out_channels=out_channels,
            pixels=pixels,
            way=way_of(call),
            copies=not is_exact(call),
            segment=segment_of(call),
            whole=whole_reach(call),
            zero_point=x.quantisation.zero_point[0] - (OFFSET if is_unsigned(call) else 0),
            first=channels.pairs[0],
            places=tuple(min(j, pixels - 1) * out_channels + side for j in range(4) for side in (0, 1)),
            sparse=is_sparse(call, channels),
            reads=reads_of(call),
            codes=codes,
            shift=shift,
        )
