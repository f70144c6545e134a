"""The cheap 32-bit form of a requantisation, and the proof that it equals the exact one for every accumulator.

    t = (((int64_t)(acc << pre_shift) * multiplier) >> 32) + addend      one mulh and one add, or one smmla
    code = clamp(t >> shift, low, high)                                  one shift, or one ssat

Both this and `Requantisation` are monotone step functions of `acc`, so they are equal on [lowest, highest] exactly
where they pass each of their at most 255 thresholds at the same accumulator. For a given addend each threshold
bounds the multiplier from one side, so the multipliers that make the two equal are one interval per channel, found
without search. One shift serves all channels. Where no 32-bit form exists (ties that round to even on both sides),
the kernel takes the exact sequence:

    p = ((acc << bits) + residue) * numerator
    code = clamp(zero_point + ((p + half - 1 + ((p >> e) & 1)) >> e), low, high)      with denominator = 1 << e
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewright.model import Array
from tilewright.ops.requantize import Integers, Requantisation

Ints32 = npt.NDArray[np.int32]

_INT32_MAX = (1 << 31) - 1
_WIDEST = 1 << 10  # more codes than this (16-bit outputs) take the exact sequence without a proof
_ADDEND_STEPS = (0, -1, 1, -2, 2, -3, 3, -4, 4, -8, 8, -16, 16, -32, 32, -64, 64)


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
    """The 32-bit form. `multiplier` and `addend` hold one int32 per channel; shifts are the layer's.

    `common_addend` tells that all addends are equal.
    """

    pre_shift: int
    multiplier: Ints32
    addend: Ints32
    shift: int
    low: int
    high: int

    @property
    def common_addend(self) -> bool:
        """True where one addend serves all channels."""
        return bool((self.addend == self.addend[0]).all())

    def apply(self, acc: Integers, axis: int = -1) -> Integers:
        """What the C code computes, with the 64-bit product and floors of its shifts."""
        shape = [1] * acc.ndim
        if self.multiplier.size > 1:
            shape[axis] = self.multiplier.size
        product = (acc << self.pre_shift) * self.multiplier.astype(np.int64).reshape(shape)
        word = (product >> 32) + self.addend.astype(np.int64).reshape(shape)
        return np.clip(word >> self.shift, self.low, self.high)


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
    """The cheapest 32-bit form that is equal for every accumulator within `bounds`, or the exact sequence."""
    channels = max(requantisation.channels, bounds.lowest.size)

    def exact(why: str) -> Proof:
        return Proof("exact_sequence", channels, 0, requantisation, bounds, None, why)

    if requantisation.high - requantisation.low >= _WIDEST:
        return exact(f"{requantisation.high - requantisation.low + 1} codes are too many to compare")
    if min(requantisation.multipliers) <= 0:
        return exact("a multiplier is zero or negative")
    if bounds.largest > _INT32_MAX:
        return exact("the accumulator needs more than 32 bits")
    limits = _limits(requantisation, bounds, channels)
    best: FixedPoint | None = None
    for pre_shift, shift in _shifts(requantisation, bounds):
        found = _solve(requantisation, limits, pre_shift, shift, channels)
        if found is not None and (best is None or (found.common_addend and not best.common_addend)):
            best = found
        if best is not None and best.common_addend:
            break
    if best is None:
        return exact("ties on both sides of zero round to even, which no single addend does")
    nominal = _nominal(requantisation, best.pre_shift, best.shift, channels)
    middle = _middle(requantisation, best.shift)
    adjusted = int(((best.multiplier != nominal) | (best.addend != middle)).sum())
    return Proof("proved", channels, adjusted, requantisation, bounds, best)


@dataclass(frozen=True)
class _Limits:
    """Per channel and code: accumulators at which the code must be reached, and must not be reached."""

    codes: Integers
    reached: Integers
    must_reach: npt.NDArray[np.bool_]
    below: Integers
    must_not: npt.NDArray[np.bool_]


def _limits(requantisation: Requantisation, bounds: Bounds, channels: int) -> _Limits:
    lowest = np.broadcast_to(bounds.lowest, (channels,))[:, None]
    highest = np.broadcast_to(bounds.highest, (channels,))[:, None]
    found = np.asarray(thresholds(requantisation))
    found = np.broadcast_to(found, (channels, found.shape[1]))
    first = np.clip(found, lowest, highest + 1).astype(np.int64)
    codes = np.arange(requantisation.low + 1, requantisation.high + 1, dtype=np.int64)
    return _Limits(codes, first, first <= highest, first - 1, first > lowest)


def _shifts(requantisation: Requantisation, bounds: Bounds) -> list[tuple[int, int]]:
    """(pre_shift, shift) to try: the smallest pre-shift, then the largest, whose addend is finest."""
    largest_multiplier = max(requantisation.multipliers)
    spare = 0  # largest with largest_multiplier * 2**(32 + spare) < 2**31
    while largest_multiplier * (1 << 32) * _power(spare + 1) <= _INT32_MAX:
        spare += 1
    while largest_multiplier * (1 << 32) * _power(spare) > _INT32_MAX:
        spare -= 1
    span = requantisation.high - requantisation.low + abs(requantisation.zero_point) + abs(requantisation.low) + 2
    value = bounds.largest * largest_multiplier + span
    found = []
    for pre_shift in range(0, 31):
        shift = pre_shift + spare
        top = value * (1 << shift) if shift >= 0 else value
        if (bounds.largest << pre_shift) > _INT32_MAX or top > _INT32_MAX:
            break
        if shift >= 1:
            found.append((pre_shift, shift))
    # A multiplier far below 2**-8 leaves a shift that is larger than the word needs: take what fits.
    if not found and spare > 1:
        shift = spare
        while shift > 1 and value * (1 << shift) > _INT32_MAX:
            shift -= 1
        found.append((0, shift))
    return found[:1] + found[1:][-1:]


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _middle(requantisation: Requantisation, shift: int) -> int:
    return (requantisation.zero_point << shift) + (1 << (shift - 1))


def _nominal(requantisation: Requantisation, pre_shift: int, shift: int, channels: int) -> Integers:
    scale = _power(32 + shift - pre_shift)
    values = [round(m * scale) for m in requantisation.multipliers]
    return np.broadcast_to(np.asarray(values, np.int64), (channels,))


def _solve(
    requantisation: Requantisation, limits: _Limits, pre_shift: int, shift: int, channels: int
) -> FixedPoint | None:
    """The form with these shifts: one addend for all channels where there is one, else one for each."""
    nominal = _nominal(requantisation, pre_shift, shift, channels)
    middle = _middle(requantisation, shift)
    addend = np.full(channels, middle, np.int64)
    multiplier = np.zeros(channels, np.int64)
    solved = np.zeros(channels, bool)
    for step in _ADDEND_STEPS:
        if abs(step) >= max(2, 1 << (shift - 1)):
            continue
        low, high = _interval(limits, pre_shift, shift, middle + step)
        good = low <= high
        chosen = np.clip(nominal, low, high)
        if good.all():
            return _form(requantisation, pre_shift, shift, chosen, np.full(channels, middle + step, np.int64))
        fresh = good & ~solved
        multiplier[fresh], addend[fresh] = chosen[fresh], middle + step
        solved |= good
    return _form(requantisation, pre_shift, shift, multiplier, addend) if solved.all() else None


def _form(
    requantisation: Requantisation, pre_shift: int, shift: int, multiplier: Integers, addend: Integers
) -> FixedPoint:
    return FixedPoint(
        pre_shift, multiplier.astype(np.int32), addend.astype(np.int32), shift, requantisation.low, requantisation.high
    )


def _interval(limits: _Limits, pre_shift: int, shift: int, addend: int) -> tuple[Integers, Integers]:
    """Per channel the smallest and largest multiplier that passes every threshold at the right accumulator."""
    needed = ((limits.codes << shift) - addend) << 32
    low = np.zeros(limits.reached.shape[0], np.int64)
    high = np.full(limits.reached.shape[0], _INT32_MAX, np.int64)
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
        high = np.minimum(high, np.where(from_above, floor, _INT32_MAX).min(axis=1, initial=_INT32_MAX))
        impossible = (active & (point == 0) & (sign * -bound < 0)).any(axis=1)
        high = np.where(impossible, -1, high)
    return low, high
