"""What the kernels around the matrix core share: paired weights, tables of starts and multipliers, output codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import MultiplyHigh, RoundedTwice, accumulator, proof, requantise, rounded_twice
from tilewright.platform import Array, Call, Constant, DType
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels.blocks import Axis, axis

PAIR_LIMIT = 1 << 23
"""Sums of the odd channel of a pair are the upper 24 bits of a difference of two int32 sums."""
DOUBLED_LIMIT = 1 << 30
"""A sum from here on has no place in 32 bits once it is doubled."""
LARGEST_SHIFT = 23
"""By this a zero point of eight bits may be shifted and a high word added."""

TYPES = "qi8|qu8, qi8|qu8|qi4|qu4, i32? -> qi8|qu8"
ORDER = (0, 2, 1, 3)
"""Order of four inputs in two words of halves, as one sxtb16 and one with a rotation give them."""

SATURATED = {(-128, 127): "_paired", (0, 127): "_paired_positive", (0, 255): "_paired_unsigned"}
"""Limits of codes that one instruction keeps, and the form of the matrix core that has it."""
COST = {1: 5.0, 2: 7.0, 3: 10.0, 4: 12.0}
"""Instructions of one step of the matrix core, by pixels."""


@dataclass(frozen=True)
class Codes:
    """Form of the functions that a layer calls, and words of its table per channel."""

    form: str
    table_step: int

    @property
    def more_bits(self) -> bool:
        """True where weights take 16 bits."""
        return "_sixteen" in self.form

    @property
    def extra(self) -> int:
        """Instructions of a step of the matrix core more than with paired weights."""
        return 0 if "_paired" in self.form else -1 if self.more_bits else 1


def axes_of(call: Call) -> tuple[Axis, Axis]:
    """Rows and columns with strides in elements, channels innermost."""
    shape = call.shape(0)
    return portable.spatial_axes(call, (shape[-1] * shape[1], shape[1]))


def folded_axes(call: Call) -> tuple[Axis, Axis]:
    """`axes_of`, but a single dilated axis as rows of `dilation` columns, whose taps are neighbouring rows.

    Every `dilation`-th input belongs to one column, where both sizes and the padding are whole rows.
    """
    h, w = axes_of(call)
    by = w.dilation
    alone = h.size == h.out == h.kernel == 1 and h.pad == 0
    if not alone or by == 1 or w.stride > 1 or w.size % by or w.out % by or w.pad % by:
        return h, w
    rows = axis(w.size // by, w.out // by, w.kernel, 1, 1, w.pad // by, w.x_stride * by)
    return rows, axis(by, by, 1, 1, 1, 0, w.x_stride)


def refusal(call: Call) -> str | None:
    """None, or why the requantisation has no 32-bit form without pre-shift."""
    proved = proof(call)
    if proved.fixed is None:
        return f"the requantisation takes the exact sequence: {proved.why}"
    if proved.fixed.pre_shift:
        return "the requantisation needs a shift before its multiplication"
    return None


def twice_form(call: Call) -> RoundedTwice | None:
    """The two roundings of a layer that has no other form and whose doubled sums and shifts the kernels take."""
    if refusal(call) is None:
        return None
    form = rounded_twice(proof(call))
    if form is None or form.multiplier.dtype is DType.I64 or min(form.right.values) < 1 or max(form.right.values) > 31:
        return None
    return form


def has_one_sign(form: RoundedTwice) -> bool:
    """True where no code lies below the zero point, so that the second rounding needs no sign, and addends fit."""
    return form.low >= form.zero_point and max(form.right.values) <= LARGEST_SHIFT


def needs_more_bits(weights: Array) -> bool:
    """True where eight bits do not hold every weight."""
    return int(weights.min(initial=0)) < -128 or int(weights.max(initial=0)) > 127


def refusal_of_weights(call: Call, weights: Array) -> str | None:
    """None, or why weights of so many bits are not taken: products with codes of eight bits fit 16, rounded once."""
    if not needs_more_bits(weights):
        return None
    if twice_form(call) is not None:
        return "weights minus their zero point need more than eight bits, and codes are rounded twice"
    return None


def refusal_of_both(call: Call, with_constant: bool = False) -> str | None:
    """As `refusal`, for kernels that have the two roundings too.

    Sums are doubled there; those of channels whose code is always the same count only `with_constant`.
    """
    form = twice_form(call)
    if form is None:
        return refusal(call)
    bounds = accumulator(call).bounds
    wide = np.maximum(np.abs(bounds.lowest), np.abs(bounds.highest)) >= DOUBLED_LIMIT
    moving = with_constant | (form.apply(bounds.lowest) != form.apply(bounds.highest))
    return "a doubled sum leaves 32 bits" if (wide & moving).any() else None


def largest_sum(call: Call) -> int:
    """The largest absolute value of a sum that can occur."""
    return accumulator(call).bounds.largest


def fixed_point(call: Call) -> MultiplyHigh:
    """The proved 32-bit form of a layer that is not refused."""
    form = requantise(proof(call))
    assert isinstance(form, MultiplyHigh), "asked of a layer that was refused"
    return form


def pairs_of(channels: int) -> list[int]:
    """First channels of the pairs; the last of an odd number overlaps the one before."""
    return [min(at, channels - 2) for at in range(0, channels, 2)]


@dataclass(frozen=True)
class Channels:
    """Output channels of a layer as the matrix core takes them.

    `constant` marks channels whose code is the same for every input: their weights are zeros here, and their start
    and multiplier give that code. `pairs` are the first channels of the pairs that are computed.
    """

    weights: Array
    start: Array
    multiplier: Array
    constant: Array
    codes: Array
    pairs: tuple[int, ...]
    paired: bool


def channels_of(call: Call, weights: Array, sparse: bool = False) -> Channels:
    """Starts, multipliers and pairs of a layer with weights [OC, K]; `sparse` leaves pairs of constant channels out."""
    form, sums = twice_form(call) or fixed_point(call), accumulator(call)
    own = isinstance(form, MultiplyHigh) and is_own(call)
    count = weights.shape[0]
    start, multiplier, lowest, highest = (
        np.broadcast_to(np.asarray(part, np.int64), (count,)).copy()
        for part in (sums.start, form.multiplier.values, sums.bounds.lowest, sums.bounds.highest)
    )
    low, high = form.apply(lowest), form.apply(highest)
    constant = (low == high) & (not own)
    if isinstance(form, RoundedTwice):
        value = (low - form.zero_point) * 4  # a multiplier of 2^30 and a shift of one leave a quarter
    else:
        shift, addend = form.shift.values[0], form.addend.values[0]
        value = ((low << shift) + (1 << (shift - 1)) - addend) << 2
        constant &= bool((multiplier != multiplier[0]).any())
    constant &= np.abs(value) < PAIR_LIMIT
    weights = np.where(constant[:, None], 0, weights)
    start, multiplier = np.where(constant, value, start), np.where(constant, 1 << 30, multiplier)
    lowest, highest = np.where(constant, value, lowest), np.where(constant, value, highest)
    pairs = live_pairs(constant) if sparse else pairs_of(count)
    firsts = np.asarray(pairs)
    odd = firsts + 1
    small = (lowest[odd] >= -PAIR_LIMIT).all() and (highest[odd] < PAIR_LIMIT).all()
    paired = bool(small and not ((weights[odd] == -128) & (weights[firsts] < 0)).any()) and not own
    paired &= not needs_more_bits(weights)
    return Channels(weights, start, multiplier, constant, low, tuple(pairs), paired)


def live_pairs(constant: Array) -> list[int]:
    """Pairs of neighbours that cover every channel that is not constant, at least one."""
    pairs: list[int] = []
    channel = 0
    while channel < constant.size:
        if constant[channel]:
            channel += 1
            continue
        pairs.append(min(channel, constant.size - 2))
        channel += 2
    return pairs or [0]


def pack(weights: Array, pairs: tuple[int, ...], paired: bool, at_once: int = 2) -> Array:
    """[OC, K] int8, K a multiple of 4, as uint32 words [block of pairs][pair of inputs][pair of channels].

    A word holds inputs (a, b) of two channels: as 16-bit halves 256 * second + first where `paired`, else as bytes.
    Weights of 16 bits take a word of each channel.
    """
    channels, depth = weights.shape
    ordered = weights.astype(np.int64).reshape(channels, depth // 4, 4)[:, :, list(ORDER)].reshape(channels, -1, 2)
    firsts = np.asarray(pairs)
    first, second = ordered[firsts], ordered[firsts + 1]
    if needs_more_bits(weights):
        both = np.stack([first, second], axis=2) & 0xFFFF
        return np.asarray((both[..., 0] | both[..., 1] << 16).reshape(-1), np.uint32)
    halves = (second * 256 + first) if paired else ((second & 255) << 8 | (first & 255))
    words = (halves[..., 0] & 0xFFFF) | ((halves[..., 1] & 0xFFFF) << 16)
    block = at_once // 2
    return np.asarray(words.reshape(-1, block, depth // 2).transpose(0, 2, 1).reshape(-1), np.uint32)


def table(call: Call, form: str, channels: Channels) -> Array:
    """Per pair two starts; two multipliers unless `_uniform`; two addends and shifts if `_own`; if `_sparse` a step.

    Under two roundings multiplier and shift of the first, then of the second channel.
    """
    firsts = np.asarray(channels.pairs)
    first, second = channels.start[firsts], channels.start[firsts + 1]
    columns = [first, second * 256 + first if "_paired" in form else second]
    twice = twice_form(call)
    if twice is not None and "_uniform" not in form:
        right = np.where(channels.constant, 1, twice.right.spread(channels.start.size))
        columns += [part[firsts + side] for side in (0, 1) for part in (channels.multiplier, right)]
    elif "_uniform" not in form:
        columns += [channels.multiplier[firsts], channels.multiplier[firsts + 1]]
    if "_own" in form:
        fixed, count = fixed_point(call), channels.start.size
        columns += [part.spread(count)[firsts + side] for part in (fixed.addend, fixed.shift) for side in (0, 1)]
    if "_sparse" in form:
        columns.append(np.diff(firsts, append=firsts[-1] + 2))
    return (np.stack(columns, axis=1).reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def channel_table(call: Call, channels: int) -> Array:
    """[channel, words]: start, multiplier, and addend and shift where channels differ in them; uint32.

    Under two roundings the start of a doubled sum, multiplier, addend and shift: codes of one sign are a rounded high
    word and the addend, shifted; those of both take the zero point in its place.
    """
    if (twice := twice_form(call)) is not None:
        right = twice.right.spread(channels)
        addend = (np.int64(twice.zero_point) << right) + (1 << (right - 1))
        addend = addend if has_one_sign(twice) else np.full(channels, twice.zero_point)
        start = np.broadcast_to(accumulator(call).start, (channels,)) * 2
        columns = [start, twice.multiplier.spread(channels), addend, right]
        return (np.stack(columns, axis=1) & 0xFFFFFFFF).astype(np.uint32)
    fixed = fixed_point(call)
    columns = [np.broadcast_to(accumulator(call).start, (channels,)), fixed.multiplier.spread(channels)]
    if is_own(call):
        columns += [fixed.addend.spread(channels), fixed.shift.spread(channels)]
    return (np.stack(columns, axis=1) & 0xFFFFFFFF).astype(np.uint32)


def is_own(call: Call) -> bool:
    """True where channels differ in shift or addend."""
    fixed = fixed_point(call)
    return not (fixed.shift.uniform and fixed.addend.uniform)


def codes_of(call: Call, channels: Channels, uniform: bool = False) -> Codes:
    """Which form of the functions a layer takes; `uniform` allows the one without multipliers in the table."""
    if (twice := twice_form(call)) is not None:
        if not channels.paired or (twice.low, twice.high) != (-128, 127):
            return Codes("_wide_twice_limited", 3)
        if uniform and twice.multiplier.uniform and twice.right.uniform and not channels.constant.any():
            return Codes("_paired_uniform_twice", 1)
        return Codes("_paired_sparse_twice", 0) if leaves_pairs_out(channels) else Codes("_paired_twice", 3)
    fixed = fixed_point(call)
    bits = "_sixteen" if needs_more_bits(channels.weights) else "_wide"
    if is_own(call):
        return Codes(f"{bits}_own_limited", 4)
    plain = (fixed.low, fixed.high) == (-128, 127)
    if not channels.paired:
        return Codes(f"{bits}_limited", 2)
    if uniform and plain and (channels.multiplier == channels.multiplier[0]).all():
        return Codes("_paired_uniform", 1)
    if plain and leaves_pairs_out(channels):
        return Codes("_paired_sparse", 0)
    return Codes(SATURATED.get((fixed.low, fixed.high), "_paired_limited"), 2)


def leaves_pairs_out(channels: Channels) -> bool:
    """True where pairs of constant channels are not computed."""
    return len(channels.pairs) < (channels.constant.size + 1) // 2


def codes_constant(call: Call) -> Constant:
    """Addend, shift, limits and first multiplier: a constant, so that layers of one shape share their code.

    Under two roundings the zero point, the first shift, limits and first multiplier.
    """
    if (twice := twice_form(call)) is not None:
        values = [twice.zero_point, twice.right.values[0], twice.low, twice.high, twice.multiplier.values[0]]
        return Constant("codes", DType.I32, np.asarray(values, np.int32))
    fixed = fixed_point(call)
    addend, shift, multiplier = (number.values[0] for number in (fixed.addend, fixed.shift, fixed.multiplier))
    values = [addend, shift, fixed.low, fixed.high, multiplier]
    return Constant("codes", DType.I32, np.asarray(values, np.int32))


def conv_channels(call: Call, weights: Array) -> tuple[Channels, Codes]:
    """Channels and form of a layer that may leave out pairs of constant channels, where it has one group."""
    if call.integer("group", 1) == 1:
        channels = channels_of(call, weights, sparse=True)
        codes = codes_of(call, channels)
        if "_sparse" in codes.form:
            return channels, codes
    channels = channels_of(call, weights)
    return channels, codes_of(call, channels)


def matrix_constants(call: Call, channels: Channels, form: str) -> tuple[Constant, ...]:
    """Weights, table and codes of the matrix core for weights [OC, K], K a multiple of 4."""
    return (
        Constant("w", DType.U32, pack(channels.weights, channels.pairs, "_paired" in form)),
        Constant("table", DType.I32, table(call, form, channels)),
        codes_constant(call),
    )


def padded_depth(weights: Array) -> Array:
    """[OC, K] with zeros up to a multiple of four inputs."""
    missing = -weights.shape[1] % 4
    return np.pad(weights, ((0, 0), (0, missing))) if missing else weights


def pixels_at_once(pixels: int) -> int:
    """The number of pixels per block that costs the fewest instructions; the last block overlaps the one before."""
    return min((4, 3, 2, 1), key=lambda b: COST[b] * -(-pixels // b) if b <= pixels else float("inf"))
