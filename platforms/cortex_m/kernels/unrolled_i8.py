"""Integer convolution for `--optimize speed` on cores with the DSP extension: its core unrolled for each layer.

Shift, strides and the number of inputs stand in the code, starts and multipliers between the weights. A run of inputs
that lie side by side is widened where it lies, whatever its length: what is left behind its groups of four takes words
of its own. Weights of 16 bits save an instruction a step where many pixels share them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import conv_i8, matrix_i8
from tilewright.platforms.cortex_m.kernels.conv_i8 import inner_blocks, pixels_of
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps


@dataclass(frozen=True)
class ConvWork(Work):
    """Instructions of the steps; results; pairs of channels in blocks; widened words; runs; blocks; bytes at edges."""

    step_instructions: float
    results: float
    channel_pairs: float
    widened_words: float
    runs: float
    blocks: float
    edge_bytes: float


Way = Literal["direct", "rows", "taps", "patch"]
COST = {2: 6.0, 3: 9.0, 4: 11.0}
"""Instructions of one step for two channels with weights of 16 bits, by pixels."""
SINGLE_COST = {2: 4.0, 3: 6.0, 4: 7.0}
"""The same for a last single channel."""
WIDE_PIXELS = 64
WIDE_WEIGHTS = 4096
"""Weights take 16 bits where a layer has so many pixels, or no more weights than these."""
FARTHEST = 4095
"""Bytes that a store reaches from its base."""
PRICES = ConvWork(
    step_instructions=1.0, results=3.0, channel_pairs=8.0, widened_words=2.1, runs=10.0, blocks=12.0, edge_bytes=4.8
)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class UnrolledContext:
    """Every number of one layer. `way` is how pixels are gathered: as they lie (`direct`), by whole kernel `rows`, by
    `taps`, or by rows with a copied `patch` where a window leaves the input. `run` inputs lie side by side."""

    x_type: str
    y_type: str
    unsigned: bool
    unsigned_result: bool
    h: Axis
    w: Axis
    channels: int
    out_channels: int
    pixels: int
    at_once: int
    way: Way
    run: int
    runs: int
    steps: int
    paired: bool
    shift: int
    padded: bool
    zero_point: int


def words_of(count: int) -> list[tuple[int, int]]:
    """The inputs in the halves of each word of a run; -1 where a half meets a weight of zero."""
    whole = count // 4 * 4
    words = [(at + side, at + side + 2) for at in range(0, whole, 4) for side in (0, 1)]
    if count - whole == 3 and whole:
        return [*words, (-1, count - 2), (count - 3, count - 1)]
    if count - whole >= 2:
        words.append((whole, whole + 1))
    return [*words, (count - 1, -1)] if count % 2 else words


def way_of(call: Call) -> Way:
    """How pixels are gathered."""
    h, w = matrix_i8.axes_of(call)
    if (h.kernel, w.kernel, h.stride, w.stride) == (1, 1, 1, 1) and not portable.is_padded(h, w):
        return "direct"
    if w.dilation > 1 or w.kernel == 1:
        return "taps"
    return "patch" if call.shape(0)[1] % 4 else "rows"


def runs_of(call: Call) -> tuple[int, int]:
    """(inputs that lie side by side, how many such runs make a window)."""
    h, w = matrix_i8.axes_of(call)
    channels = call.shape(0)[1]
    if way_of(call) in ("direct", "taps"):
        return channels, h.kernel * w.kernel
    return channels * w.kernel, h.kernel


def steps_of(call: Call) -> int:
    """Words of a widened pixel."""
    run, runs = runs_of(call)
    return len(words_of(run)) * runs


def pixels_at_once(call: Call) -> int:
    """The number of pixels per block that costs the fewest instructions; the last block overlaps the one before."""
    pixels, steps = pixels_of(call), steps_of(call)
    able = [b for b in COST if b <= pixels]
    return min(able, key=lambda b: ((COST[b] * steps + 8 * b) * -(-pixels // b), -b))


def words(call: Call) -> Array:
    """[OC, steps, 2]: weights in the order of the widened inputs, int64."""
    weights, _ = portable.weights_of(call)
    if weights.ndim == 3:
        weights = weights[:, :, None, :]
    run, _ = runs_of(call)
    flat = weights.transpose(0, 2, 3, 1).reshape(weights.shape[0], -1, run).astype(np.int64)
    padded = np.concatenate([flat, np.zeros_like(flat[..., :1])], axis=2)
    order = np.asarray(words_of(run))
    return np.asarray(padded[..., order].reshape(weights.shape[0], -1, 2))


def is_paired(call: Call) -> bool:
    """True where two channels share a word of weights: where flash counts and the numbers allow it."""
    channels = call.outputs[0].shape[1]
    small = pixels_of(call) >= WIDE_PIXELS or channels * steps_of(call) * 2 <= WIDE_WEIGHTS
    prepared = matrix_i8.channels_of(call, conv_i8.weights_of(call))
    if small or not prepared.paired:
        return False
    fixed, sums = matrix_i8.fixed_point(call), matrix_i8.largest_sum(call)
    high = (256 * sums * max(fixed.multiplier.values) >> 32) + 256 * abs(fixed.addend.values[0]) + 1
    return fixed.shift.values[0] <= 23 and high < 1 << 31


def stream(call: Call) -> Array:
    """Per pair of channels starts, weights, multipliers; then the same of a last single channel, in 16 bits."""
    channels = matrix_i8.channels_of(call, conv_i8.weights_of(call))
    weights = np.where(channels.constant[:, None, None], 0, words(call))
    halves = weights[..., 0] & 0xFFFF | (weights[..., 1] & 0xFFFF) << 16
    count, even = weights.shape[0], weights.shape[0] // 2 * 2
    first, second = weights[0:even:2], weights[1:even:2]
    starts = channels.start[:even].reshape(-1, 2)
    if is_paired(call):
        both = second * 256 + first
        packed = both[..., 0] & 0xFFFF | (both[..., 1] & 0xFFFF) << 16
        starts = np.stack([starts[:, 0], starts[:, 1] * 256 + starts[:, 0]], axis=1)
    else:
        packed = np.stack([halves[0:even:2], halves[1:even:2]], axis=2).reshape(even // 2, -1)
    parts = [np.concatenate([starts, packed, channels.multiplier[:even].reshape(-1, 2)], axis=1).reshape(-1)]
    if count % 2:
        parts.append(np.asarray([channels.start[-1], *halves[-1], channels.multiplier[-1]]))
    return np.asarray(np.concatenate(parts) & 0xFFFFFFFF, np.uint32)


def unfit(call: Call) -> str | None:
    """None, or why three instructions do not make a code: multiply, shift and saturate, store."""
    fixed = matrix_i8.fixed_point(call)
    if matrix_i8.is_own(call):
        return "channels differ in shift or addend"
    if (fixed.low, fixed.high) not in ((-128, 127), (0, 255)):
        return "codes are limited by more than their type"
    if not 1 <= fixed.shift.values[0] <= 30:
        return "the shift is none that saturates in one instruction"
    return None


@PLATFORM.kernel(
    "Conv", types=matrix_i8.TYPES, template="unrolled_i8.c.mako", layout="channels_last",
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "unrolled_i8.h"], preference=32,
    requires=Needs(has=("dsp",), optimize="speed"),
)  # fmt: skip
class ConvUnrolled(KernelMethods):
    """Integer convolution of any window with its core unrolled for the layer: four pixels by two channels."""

    def accepts(self, call: Call) -> str | None:
        """What `ConvDsp` takes, with one shift for all channels, codes that saturate, and two or more pixels."""
        if (why := conv_i8.accepts(call) or unfit(call)) is not None:
            return why
        if pixels_of(call) < 2:
            return "the kernel computes two pixels at once"
        if 4 * call.outputs[0].shape[1] > FARTHEST:
            return "pixels of the result lie too far apart"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The stream of weights, and codes."""
        call = operands.call
        return Constant("w", DType.U32, stream(call)), matrix_i8.codes_constant(call)

    def scratch(self, operands: Operands) -> int:
        """Widened inputs of the pixels of one block, and those of one pixel whose window leaves the input."""
        call = operands.call
        run, runs = runs_of(call)
        copied = run * runs if way_of(call) == "patch" and portable.is_padded(*matrix_i8.axes_of(call)) else 0
        return pixels_at_once(call) * 4 * steps_of(call) + copied

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The pixels of a block are widened before their results are written."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        steps = patch_steps(h, w, pixels_at_once(call), call.outputs[0].shape[1], 1, 1)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> UnrolledContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        h, w = matrix_i8.axes_of(call)
        run, runs = runs_of(call)
        assert x.quantisation is not None
        return UnrolledContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=x.dtype is DType.U8,
            unsigned_result=y.dtype is DType.U8,
            h=h,
            w=w,
            channels=x.shape[1],
            out_channels=y.shape[1],
            pixels=pixels_of(call),
            at_once=pixels_at_once(call),
            way=way_of(call),
            run=run,
            runs=runs,
            steps=steps_of(call),
            paired=is_paired(call),
            shift=matrix_i8.fixed_point(call).shift.values[0],
            padded=portable.is_padded(h, w),
            zero_point=x.quantisation.zero_point[0],
        )


def work(call: Call) -> ConvWork:
    """The work of one call."""
    h, w = matrix_i8.axes_of(call)
    at_once, channels, steps = pixels_at_once(call), call.outputs[0].shape[1], steps_of(call)
    blocks = -(-pixels_of(call) // at_once)
    run, runs = runs_of(call)
    pairs, single = channels // 2, channels % 2
    step = COST[at_once] + (1 if is_paired(call) else 0)
    inner = blocks if way_of(call) == "direct" else inner_blocks(h, w, at_once)
    return ConvWork(
        step_instructions=blocks * steps * (pairs * step + single * SINGLE_COST[at_once]),
        results=blocks * at_once * channels,
        channel_pairs=blocks * (pairs + single),
        widened_words=blocks * at_once * steps,
        runs=blocks * runs,
        blocks=blocks,
        edge_bytes=(blocks - inner) * at_once * run * runs,
    )
