"""Integer convolution on cores with the DSP extension: gather some pixels' inputs, widen them once, matrix core.

A 1x1 convolution of stride 1 widens straight from the input. Where the channels are a multiple of four, whole kernel
rows are widened from the input and taps outside it from a run of zero points; else a pixel's inputs are first copied
side by side, those of one group after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.kernels.matrix_i8 import Codes
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, groups_of
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps


@dataclass(frozen=True)
class ConvWork(Work):
    """Instructions of the matrix core's steps; pairs of channels; results, and those whose codes no assembly makes;
    blocks; widened words and the runs of them; what is gathered: pixel rows or tested taps, and bytes one by one."""

    core_instructions: float
    channel_pairs: float
    results: float
    coded: float
    blocks: float
    widened_words: float
    runs: float
    gathered_runs: float
    gathered_bytes: float


PRICES = ConvWork(
    core_instructions=0.98,
    channel_pairs=0.0,
    results=8.9,
    coded=9.5,
    blocks=45.0,
    widened_words=8.3,
    runs=15.0,
    gathered_runs=14.6,
    gathered_bytes=4.2,
)
"""Instructions for one unit of each kind of work."""
LEAST_PRODUCTS = 8
"""Of one group for each tap, where there are several groups."""


@dataclass(frozen=True)
class ConvContext:
    """Every number of one convolution. `way` is how pixels are gathered: `direct`, `rows` or `patch`.

    `channels` and `depth` are inputs of one group. Channels from `first` to `last` are computed; before, and in steps
    between, they may be constant.
    """

    x_type: str
    y_type: str
    unsigned: bool
    h: Axis
    w: Axis
    groups: Groups
    channels: int
    depth: int
    out_channels: int
    pixels: int
    at_once: int
    way: str
    runs: bool
    padded: bool
    zero_point: int
    first: int
    last: int
    codes: Codes


def weights_of(call: Call) -> Array:
    """[OC, kh * kw * IC, padded to fours], in int8 where they fit."""
    weights, _ = portable.weights_of(call)
    if weights.ndim == 3:
        weights = weights[:, :, None, :]
    flat = weights.transpose(0, 2, 3, 1).reshape(weights.shape[0], -1)
    return matrix_i8.padded_depth(flat)


def accepts(call: Call) -> str | None:
    """What `fits` asks for, and a plain requantisation."""
    return fits(call) or matrix_i8.refusal(call)


def fits(call: Call) -> str | None:
    """One group, two or more output channels, weights of eight bits."""
    if (why := portable.accepts(call)) is not None:
        return why
    if call.integer("group", 1) != 1:
        return "the kernel handles one group"
    return _refused(call) or eight_bits(call)


def eight_bits(call: Call) -> str | None:
    """None for weights of eight bits."""
    fit = portable.weights_of(call)[1] is DType.I8
    return None if fit else "weights minus their zero point need more than eight bits"


def accepts_groups(call: Call) -> str | None:
    """Any number of groups with an even number of results each, and else what `fits` asks for but the weights."""
    if (why := portable.accepts(call)) is not None:
        return why
    groups = groups_of(call)
    if groups.count > 1 and groups.results % 2:
        return f"a group has {groups.results} output channels, the kernel computes two at once"
    if groups.count > 1 and groups.channels * groups.results < LEAST_PRODUCTS:
        return "groups are so small that copying their inputs costs more than their products"
    return _refused(call)


def _refused(call: Call) -> str | None:
    if call.outputs[0].shape[1] < 2:
        return "the kernel computes two output channels at once"
    return None


def way_of(call: Call) -> str:
    """How pixels are gathered."""
    h, w = matrix_i8.axes_of(call)
    if call.shape(0)[1] % 4 or groups_of(call).count > 1:
        return "patch"
    plain = (h.kernel, w.kernel, h.stride, w.stride) == (1, 1, 1, 1) and not portable.is_padded(h, w)
    return "direct" if plain else "rows"


@PLATFORM.kernel(
    "Conv", types=matrix_i8.TYPES, template="conv_i8.c.mako", layout="channels_last",
    sources=[SHIFTS, "dsp.h", "matrix_i8.h"], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class ConvDsp(KernelMethods):
    """Integer convolution of any window and groups: four pixels by two channels of dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """What `accepts_groups` asks for, and a requantisation that rounds once or twice."""
        why = accepts_groups(call) or matrix_i8.refusal_of_weights(call, portable.weights_of(call)[0])
        return why or matrix_i8.refusal_of_both(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in pairs of channels, starts and multipliers, and a run of zero points for taps outside."""
        call = operands.call
        channels, codes = matrix_i8.conv_channels(call, weights_of(call))
        constants = matrix_i8.matrix_constants(call, channels, codes.form)
        if "_sparse" in codes.form:
            y = call.outputs[0]
            constants += (Constant("fill", y.dtype, channels.codes.astype(y.dtype.numpy)),)
        if way_of(call) == "rows" and portable.is_padded(*matrix_i8.axes_of(call)):
            x = call.tensor(0)
            assert x.quantisation is not None
            zeros = np.full(x.shape[1], x.quantisation.zero_point[0], x.dtype.numpy)
            constants += (Constant("pad", x.dtype, zeros),)
        return constants

    def scratch(self, operands: Operands) -> int:
        """Widened inputs of the pixels of one block, and their copies side by side where they are gathered so."""
        call = operands.call
        depth = weights_of(call).shape[1]
        at_once = matrix_i8.pixels_at_once(pixels_of(call))
        return int(depth) * at_once * (3 if way_of(call) == "patch" else 2)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The pixels of a block are widened before their results are written, those of a group at a time."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        steps = patch_steps(h, w, matrix_i8.pixels_at_once(pixels_of(call)), call.outputs[0].shape[1], 1, 1)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=groups_of(call).count == 1)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> ConvContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        weights = weights_of(call)
        channels, codes = matrix_i8.conv_channels(call, weights)
        h, w = matrix_i8.axes_of(call)
        assert x.quantisation is not None
        pixels = pixels_of(call)
        at_once = matrix_i8.pixels_at_once(pixels)
        return ConvContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=x.dtype is DType.U8,
            h=h,
            w=w,
            groups=groups_of(call),
            channels=groups_of(call).channels,
            depth=weights.shape[1],
            out_channels=weights.shape[0],
            pixels=pixels,
            at_once=at_once,
            way=way_of(call),
            runs=w.dilation == 1 and w.kernel > 1 and groups_of(call).count == 1 and inner_blocks(h, w, at_once) > 0,
            padded=portable.is_padded(h, w),
            zero_point=x.quantisation.zero_point[0],
            first=channels.pairs[0],
            last=channels.pairs[-1] + 2,
            codes=codes,
        )


def work(call: Call) -> ConvWork:
    """The work of one call."""
    h, w = matrix_i8.axes_of(call)
    weights, pixels = weights_of(call), pixels_of(call)
    prepared, codes = matrix_i8.conv_channels(call, weights)
    at_once, groups = matrix_i8.pixels_at_once(pixels), groups_of(call)
    blocks, pairs, depth = -(-pixels // at_once), len(prepared.pairs), int(weights.shape[1])
    step = matrix_i8.COST[at_once] + codes.extra
    taps, channels, way = h.kernel * w.kernel, groups.channels, way_of(call)
    inner = inner_blocks(h, w, 1 if way == "patch" else at_once)
    runs, tests, copies = float(blocks), 0.0, 0.0
    if way == "patch":
        inner = inner if w.dilation == 1 and groups.count == 1 else 0
        edges = blocks * at_once - inner
        tests, copies = inner * h.kernel + edges * taps * groups.count, edges * taps * channels * groups.count
    elif way == "rows":
        whole = inner if w.dilation == 1 and w.kernel > 1 else 0
        edges = blocks - whole
        runs, tests = float(whole * h.kernel + edges * taps), float(edges * taps * at_once)
    return ConvWork(
        core_instructions=blocks * pairs * depth / 2 * step,
        channel_pairs=blocks * pairs,
        results=2 * blocks * pairs * at_once,
        coded=2 * blocks * pairs * at_once * codes.form.endswith("_limited"),
        blocks=blocks * groups.count,
        widened_words=blocks * groups.count * at_once * depth / 4,
        runs=runs,
        gathered_runs=tests,
        gathered_bytes=copies,
    )


def inner_blocks(h: Axis, w: Axis, at_once: int) -> int:
    """Blocks of neighbouring pixels whose windows lie inside the input."""
    rows, columns = np.arange(h.out), np.arange(w.out)
    inside = np.logical_and.outer(
        (rows >= h.inner_first) & (rows < h.inner_last), (columns >= w.inner_first) & (columns < w.inner_last)
    ).reshape(-1)
    starts = np.minimum(np.arange(0, inside.size, at_once), inside.size - at_once)
    return int(np.logical_and.reduce([inside[starts + j] for j in range(at_once)]).sum())


def pixels_of(call: Call) -> int:
    """Output pixels."""
    h, w = matrix_i8.axes_of(call)
    return h.out * w.out
