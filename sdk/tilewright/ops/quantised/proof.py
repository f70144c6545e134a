"""The cheap 32-bit form of a requantisation, and the proof that it equals the exact one for every accumulator.

    t = (((int64_t)(acc << pre_shift) * multiplier) >> 32) + addend      one mulh and one add, or one smmla
    code = clamp(t >> shift, low, high)                                  one shift, or one ssat

Both this and `Requantisation` are monotone step functions of `acc`, so they are equal on [lowest, highest] exactly
where they pass each of their at most 255 thresholds at the same accumulator. For a given addend each threshold
bounds the multiplier from one side, so the multipliers that make the two equal are one interval per channel, found
without search. One shift serves all channels, but for rare ones whose multiplier is so much smaller than the layer's
largest that it needs a shift of its own. Where no 32-bit form exists (ties that round to even on both sides),
the kernel takes the exact sequence:

    p = ((acc << bits) + residue) * numerator
    code = clamp(zero_point + ((p + half - 1 + ((p >> e) & 1)) >> e), low, high)      with denominator = 1 << e
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewright.model import Array
from tilewright.ops.quantised.words import INT32_MAX, largest_shift, power, shifts_to_try, whole_multipliers
from tilewright.ops.requantize import RESIDUE_BITS, Integers, Requantisation

Ints32 = npt.NDArray[np.int32]

_WIDEST = 1 << 10
"""From so many codes on (those of 16 bits) multipliers are taken that need no comparison, and few channels compared."""
_FEW = 8
_COMMON_STEPS = (0, -1, 1, -2, 2, -3, 3, -4, 4, -8, 8, -16, 16, -32, 32, -64, 64)
_MULTIPLIER_STEPS = (0, 1, -1, 2, -2, 3, -3)


@dataclass(frozen=True)
class Bounds:
    """Smallest and largest accumulator that can occur, per channel: int64 arrays of one length."""

    lowest: Integers
    highest: Integers

    @property
    def largest(self) -> int:
        """The largest absolute value."""
        return max(int(np.abs(self.lowest).max()), int(np.abs(self.highest).max()))


@dataclass(frozen=True)
class FixedPoint:
    """The 32-bit form. `multiplier`, `addend` and `shift` hold one int32 per channel; the pre-shift is the layer's."""

    pre_shift: int
    multiplier: Ints32
    addend: Ints32
    shift: Ints32
    low: int
    high: int

    @property
    def common_shift(self) -> bool:
        """True where one shift serves all channels."""
        return bool((self.shift == self.shift[0]).all())

    @property
    def common_addend(self) -> bool:
        """True where one addend serves all channels."""
        return bool((self.addend == self.addend[0]).all())

    def apply(self, acc: Integers, axis: int = -1) -> Integers:
        """What the C code computes, with the 64-bit product and floors of its shifts."""
        shape = [1] * acc.ndim
        if self.multiplier.size > 1:
            shape[axis] = self.multiplier.size
        multiplier, addend, shift = (
            part.astype(np.int64).reshape(shape) for part in (self.multiplier, self.addend, self.shift)
        )
        word = (((acc << self.pre_shift) * multiplier) >> 32) + addend
        codes: Integers = np.clip(word >> shift, self.low, self.high)
        return codes


@dataclass(frozen=True)
class Proof:
    """What was proved of a layer. `fixed` is None where only the exact sequence is right; `why` says so in a sentence.

    `adjusted` counts channels whose multiplier or addend is not the nominal one.
    """

    status: Literal["proved", "exact_sequence"]
    channels: int
    adjusted: int
    requantisation: Requantisation
    bounds: Bounds
    fixed: FixedPoint | None = None
    why: str = ""


def thresholds(requantisation: Requantisation) -> Array:
    """[channel, k]: the smallest integer accumulator whose code is at least `low + 1 + k`; any magnitude.

    Only for positive multipliers; a multiplier of zero has no thresholds.
    """
    if requantisation.rules:
        wanted = np.arange(requantisation.low + 1, requantisation.high + 1, dtype=np.int64) - requantisation.zero_point
        return np.asarray([rule.first_sums(wanted) for rule in requantisation.rules], np.int64)
    residue, numerator, denominator = requantisation.rational()
    steps = np.arange(requantisation.low + 1, requantisation.high + 1, dtype=np.int64) - requantisation.zero_point
    largest = int(np.abs(steps).max(initial=0)) * 2 + 2
    wide = numerator.dtype == object or denominator.dtype == object
    if wide or largest * int(denominator.max()) >= 1 << 62:
        numerator, denominator, residue = (part.astype(object) for part in (numerator, denominator, residue))
        steps = steps.astype(object)
    top = (2 * steps[None, :] - 1) * denominator[:, None]
    bottom = 2 * np.broadcast_to(numerator, denominator.shape)[:, None]
    quotient = -((-top) // bottom)
    # A tie between step - 1 and step goes to the even one: to step where that is even, else one unit later.
    fine = quotient + ((quotient * bottom == top) & (steps[None, :] % 2 == 1))
    return np.asarray(-((-(fine - residue[:, None])) // (1 << requantisation.bits)))


def prove(requantisation: Requantisation, bounds: Bounds) -> Proof:
    """The cheapest 32-bit form that is equal for every accumulator within `bounds`, or the exact sequence.

    Remembered, since every stage asks again.
    """
    return _prove(requantisation, bounds.lowest.tobytes(), bounds.highest.tobytes())


@lru_cache(maxsize=1024)
def _prove(requantisation: Requantisation, lowest: bytes, highest: bytes) -> Proof:
    bounds = Bounds(np.frombuffer(lowest, np.int64), np.frombuffer(highest, np.int64))
    channels = max(requantisation.channels, bounds.lowest.size)

    def exact(why: str) -> Proof:
        return Proof("exact_sequence", channels, 0, requantisation, bounds, None, why)

    if min(requantisation.multipliers) <= 0:
        return exact("a multiplier is zero or negative")
    if bounds.largest > INT32_MAX:
        return exact("the accumulator needs more than 32 bits")
    wide = requantisation.high - requantisation.low >= _WIDEST
    best = _wide(requantisation, bounds, channels) if wide else _compared(requantisation, bounds, channels)
    if isinstance(best, str):
        return exact(best)
    shifts = best.shift.astype(np.int64)
    nominal = _nominal(requantisation, best.pre_shift, shifts)
    adjusted = int(((best.multiplier != nominal) | (best.addend != _middle(requantisation, shifts))).sum())
    return Proof("proved", channels, adjusted, requantisation, bounds, best)


def _compared(requantisation: Requantisation, bounds: Bounds, channels: int) -> FixedPoint | str:
    """The form that passes every threshold at the right accumulator, or why there is none."""
    limits = _limits(requantisation, bounds, channels)
    forms: list[FixedPoint] = []
    for pre_shift, shift in shifts_to_try(requantisation, bounds.largest):
        form = _solve(requantisation, limits, bounds, pre_shift, shift)
        if form is not None:
            forms.append(form)
            if form.common_shift and form.common_addend:
                break
    if not forms:
        return "no multiplier and addend of 32 bits pass every threshold, as where ties round to even on both sides"
    return min(forms, key=lambda form: (not form.common_shift, not form.common_addend, form.pre_shift))


def _wide(requantisation: Requantisation, bounds: Bounds, channels: int) -> FixedPoint | str:
    """The form of many codes: whole multipliers need no comparison, and the few other channels are compared."""
    many = f"{requantisation.high - requantisation.low + 1} codes are too many to compare"
    reach = np.broadcast_to(np.maximum(np.abs(bounds.lowest), np.abs(bounds.highest)), (channels,))
    exact = whole_multipliers(requantisation, reach)
    rest = ~exact.whole
    if requantisation.rules or rest.sum() > _FEW:
        return many
    if rest.all():
        return _compared(requantisation, bounds, channels)
    multiplier, shift = exact.multiplier, exact.shift
    addend = _middle(requantisation, np.maximum(shift, 1))
    if rest.any():
        some, reach_of_some = _some(requantisation, bounds, rest)
        most = largest_shift(some, max(some.multipliers), reach_of_some.largest, 0)
        limits = _limits(some, reach_of_some, int(rest.sum()))
        form = _solve(some, limits, reach_of_some, 0, min(most, int(shift.max()))) if most > 0 else None
        if form is None:
            return many
        multiplier[rest], addend[rest], shift[rest] = form.multiplier, form.addend, form.shift
    parts = [part.astype(np.int32) for part in (multiplier, addend, shift)]
    return FixedPoint(0, parts[0], parts[1], parts[2], requantisation.low, requantisation.high)


@lru_cache(maxsize=1024)
def split(requantisation: Requantisation, lowest: bytes, highest: bytes) -> FixedPoint | None:
    """The form of which each product is two of 32 bits, for cores whose high half of a product takes them long.

    It is a `FixedPoint` whose pre-shift leaves 32 bits. With `bits = 32 - pre_shift` an accumulator times what the
    multiplier has below 2^bits stays inside them, and

        t = ((acc * (multiplier % 2^bits)) >> bits) + acc * (multiplier >> bits) + addend

    One shift serves all channels; one whose code never changes has a multiplier of zero. None where no such form passes
    every threshold. The bounds are int64 arrays as bytes.
    """
    bounds = Bounds(np.frombuffer(lowest, np.int64), np.frombuffer(highest, np.int64))
    if min(requantisation.multipliers) <= 0 or requantisation.high - requantisation.low >= _WIDEST:
        return None
    channels = max(requantisation.channels, bounds.lowest.size)
    limits = _limits(requantisation, bounds, channels)
    changing = np.asarray((limits.must_reach & limits.must_not).any(axis=1))
    if not changing.any():
        return None
    some, reach = _some(requantisation, bounds, changing)
    bits = 31 - reach.largest.bit_length()
    shift = largest_shift(some, max(some.multipliers), reach.largest, 32 - bits) if bits > 0 else 0
    form = _solve(some, limits.of(changing), reach, 32 - bits, shift) if shift > 0 else None
    if form is None or not form.common_shift:
        return None
    multiplier, addend = np.zeros(channels, np.int32), np.empty(channels, np.int32)
    multiplier[changing], addend[changing] = form.multiplier, form.addend
    addend[~changing] = (requantisation.low + limits.must_reach[~changing].sum(axis=1)) << shift
    shifts = np.full(channels, shift, np.int32)
    return FixedPoint(form.pre_shift, multiplier, addend, shifts, form.low, form.high)


def _some(
    requantisation: Requantisation, bounds: Bounds, chosen: npt.NDArray[np.bool_]
) -> tuple[Requantisation, Bounds]:
    """Some channels as a layer of their own, to be held against limits that are known."""
    places = np.flatnonzero(chosen).tolist()
    multipliers, residues = requantisation.multipliers, requantisation.residues
    part = replace(
        requantisation,
        multipliers=tuple(multipliers[p] for p in places) if len(multipliers) > 1 else multipliers,
        residues=tuple(residues[p] for p in places) if len(residues) > 1 else residues,
        rules=(),
    )
    sides = (side[places] if side.size > 1 else side for side in (bounds.lowest, bounds.highest))
    return part, Bounds(*sides)


@dataclass(frozen=True)
class _Limits:
    """Per channel and code: accumulators at which the code must be reached, and must not be reached."""

    codes: Integers
    reached: Integers
    must_reach: npt.NDArray[np.bool_]
    below: Integers
    must_not: npt.NDArray[np.bool_]

    def of(self, channels: npt.NDArray[np.bool_]) -> _Limits:
        """Those of some channels."""
        reached, below = self.reached[channels], self.below[channels]
        return _Limits(self.codes, reached, self.must_reach[channels], below, self.must_not[channels])


def _limits(requantisation: Requantisation, bounds: Bounds, channels: int) -> _Limits:
    lowest = np.broadcast_to(bounds.lowest, (channels,))[:, None]
    highest = np.broadcast_to(bounds.highest, (channels,))[:, None]
    limits = np.asarray(thresholds(requantisation))
    limits = np.broadcast_to(limits, (channels, limits.shape[1]))
    first = np.clip(limits, lowest, highest + 1).astype(np.int64)
    codes = np.arange(requantisation.low + 1, requantisation.high + 1, dtype=np.int64)
    return _Limits(codes, first, first <= highest, first - 1, first > lowest)


def _middle(requantisation: Requantisation, shift: Integers) -> Integers:
    """The nominal addend: zero point, half a step for rounding, the residue of a real-valued bias."""
    middle = (np.int64(requantisation.zero_point) << shift) + (np.int64(1) << (shift - 1))
    if not requantisation.residues:
        return middle
    multipliers = requantisation.multipliers * (shift.size if len(requantisation.multipliers) == 1 else 1)
    parts = zip(requantisation.residues, multipliers, shift, strict=True)
    return middle + np.asarray([round(r * m * power(int(s) - RESIDUE_BITS)) for r, m, s in parts], np.int64)


def _nominal(requantisation: Requantisation, pre_shift: int, shift: Integers) -> Integers:
    multipliers = requantisation.multipliers * (shift.size if len(requantisation.multipliers) == 1 else 1)
    values = [round(m * power(32 + int(s) - pre_shift)) for m, s in zip(multipliers, shift, strict=True)]
    return np.asarray(values, np.int64)


def _solve(
    requantisation: Requantisation, limits: _Limits, bounds: Bounds, pre_shift: int, shift: int
) -> FixedPoint | None:
    """The form with these shifts: one addend for all channels where there is one, else one for each.

    Channels that have none take a shift of their own, which makes their multiplier more precise. What a channel comes
    to does not hang on the others, so that the one which misses most tells first whether there is no form.
    """
    channels = limits.reached.shape[0]
    shifts = np.full(channels, shift, np.int64)
    first = _interval(limits, pre_shift, shifts, _middle(requantisation, shifts))
    hardest = int(np.argmax(first[0] - first[1]))
    if channels > 1 and first[0][hardest] > first[1][hardest]:
        mask = np.arange(channels) == hardest
        one, its_bounds = _some(requantisation, bounds, mask)
        if _solve(one, limits.of(mask), its_bounds, pre_shift, shift) is None:
            return None
    multiplier, addend, solved = _choose(requantisation, limits, pre_shift, shifts, first)
    if not solved.all():
        multipliers = np.broadcast_to(np.asarray(requantisation.multipliers, object), (channels,))
        reach = np.maximum(np.abs(bounds.lowest), np.abs(bounds.highest))
        reach = np.broadcast_to(reach, (channels,))
        own = [
            shift if done else largest_shift(requantisation, m, int(r), pre_shift)
            for done, m, r in zip(solved, multipliers, reach, strict=True)
        ]
        shifts = np.asarray(own, np.int64)
        again, its_addend, now = _choose(requantisation, limits, pre_shift, shifts)
        multiplier, addend = np.where(solved, multiplier, again), np.where(solved, addend, its_addend)
        solved = solved | now
    if not solved.all():
        return None
    small = tuple(part.astype(np.int32) for part in (multiplier, addend, shifts))
    return FixedPoint(pre_shift, small[0], small[1], small[2], requantisation.low, requantisation.high)


def _choose(
    requantisation: Requantisation, limits: _Limits, pre_shift: int, shifts: Integers,
    first: tuple[Integers, Integers] | None = None,
) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:  # fmt: skip
    """(multiplier, addend, solved) per channel; one addend step for all channels where one serves all.

    `first` is the interval of the nominal addend where it is known already.
    """
    nominal, middle = _nominal(requantisation, pre_shift, shifts), _middle(requantisation, shifts)
    multiplier, addend = nominal.copy(), middle.copy()
    solved, failed = np.zeros(shifts.size, bool), np.zeros(shifts.size, bool)
    for step in _COMMON_STEPS:
        good, chosen = abs(step) < np.maximum(2, np.int64(1) << (shifts - 1)), nominal.copy()
        for part in (failed, ~failed):  # the others matter only where this step serves all that one has failed
            if not part.any() or not (part is failed or good.all()):
                continue
            whole = first if step == 0 else None
            low, high = whole or _interval(limits.of(part), pre_shift, shifts[part], middle[part] + step)
            good[part] &= low <= high
            chosen[part] = np.clip(nominal[part], low, high)
        if good.all():
            return chosen, middle + step, good
        fresh = good & ~solved
        multiplier[fresh], addend[fresh] = chosen[fresh], (middle + step)[fresh]
        solved, failed = solved | fresh, failed | ~good
    for step in _MULTIPLIER_STEPS:
        if solved.all():
            break
        moved = nominal + step
        low, high = _addend_interval(limits, pre_shift, shifts, moved)
        fresh = (low <= high) & (moved >= 0) & (moved <= INT32_MAX) & ~solved
        chosen = np.clip(middle, low, high)
        multiplier[fresh], addend[fresh] = moved[fresh], chosen[fresh]
        solved |= fresh
    return multiplier, addend, solved


def _addend_interval(
    limits: _Limits, pre_shift: int, shifts: Integers, multiplier: Integers
) -> tuple[Integers, Integers]:
    """Per channel the smallest and largest addend with which this multiplier passes every threshold rightly."""
    steps = limits.codes[None, :] << shifts[:, None]
    reached, below = (((points << pre_shift) * multiplier[:, None]) >> 32 for points in (limits.reached, limits.below))
    low = np.where(limits.must_reach, steps - reached, -INT32_MAX).max(axis=1, initial=-INT32_MAX)
    high = np.where(limits.must_not, steps - below - 1, INT32_MAX).min(axis=1, initial=INT32_MAX)
    return np.asarray(low), np.asarray(high)


def _interval(limits: _Limits, pre_shift: int, shifts: Integers, addend: Integers) -> tuple[Integers, Integers]:
    """Per channel the smallest and largest multiplier that passes every threshold at the right accumulator."""
    needed = ((limits.codes[None, :] << shifts[:, None]) - addend[:, None]) << 32
    low = np.zeros(limits.reached.shape[0], np.int64)
    high = np.full(limits.reached.shape[0], INT32_MAX, np.int64)
    for sign, points, active, bound in (
        (1, limits.reached, limits.must_reach, needed),
        (-1, limits.below, limits.must_not, needed - 1),
    ):
        # sign * (point * multiplier - bound) >= 0: for a positive point a bound from one side, for a negative from
        # the other, for zero a condition on the addend alone.
        point = points << pre_shift
        divisor = np.where(point == 0, 1, np.abs(point))
        from_below = active & (np.sign(point) == sign)
        from_above = active & (np.sign(point) == -sign)
        target = np.where(point < 0, -bound, bound)
        ceiling = -((-target) // divisor)
        floor = target // divisor
        low = np.maximum(low, np.where(from_below, ceiling, 0).max(axis=1, initial=0))
        high = np.minimum(high, np.where(from_above, floor, INT32_MAX).min(axis=1, initial=INT32_MAX))
        impossible = (active & (point == 0) & (sign * -bound < 0)).any(axis=1)
        high = np.where(impossible, -1, high)
    return low, high
