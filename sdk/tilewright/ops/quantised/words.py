"""Words of 32 bits, a sum times a multiplier above its code: the shifts that leave room, multipliers that lose nothing.

A multiplier `m` is whole under a shift `s` where `m * 2^(32 + s)` is a whole number. Its product with a sum is exact,
so that the form rounds halves up and all else as the definition does. No sum meets a half where all are smaller than
half the denominator of `m` in lowest terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.ops.requantize import Integers, Requantisation

if TYPE_CHECKING:
    from collections.abc import Sequence

INT32_MAX = (1 << 31) - 1


def power(exponent: int) -> Fraction:
    """Two to any power."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def largest_shift(requantisation: Requantisation, multiplier: Fraction, reach: int, pre_shift: int) -> int:
    """The largest shift whose multiplier fits into 31 bits and whose sum fits into 32; below 1 where there is none."""
    span = requantisation.high - requantisation.low + abs(requantisation.zero_point) + abs(requantisation.low) + 2
    value = reach * multiplier + span
    shift = 30
    while shift >= 1 and (multiplier * power(32 + shift - pre_shift) > INT32_MAX or value * power(shift) > INT32_MAX):
        shift -= 1
    return shift


def shifts_to_try(requantisation: Requantisation, reach: int) -> list[tuple[int, int]]:
    """(pre_shift, shift) to try: the smallest pre-shift, then the largest, whose addend is finest."""
    largest = max(requantisation.multipliers)
    shifts: list[tuple[int, int]] = []
    for pre_shift in range(0, 31):
        if (reach << pre_shift) > INT32_MAX:
            break
        shift = largest_shift(requantisation, largest, reach, pre_shift)
        if shift >= 1 and (not shifts or shift > shifts[-1][1]):
            shifts.append((pre_shift, shift))
    return shifts[:1] + shifts[1:][-1:]


@dataclass(frozen=True)
class WholeMultipliers:
    """One multiplier and shift for each channel that is `whole`; all of them have one shift where that can be."""

    whole: npt.NDArray[np.bool_]
    multiplier: Integers
    shift: Integers


def whole_multipliers(requantisation: Requantisation, reach: Integers) -> WholeMultipliers:
    """Those of sums of at most `reach` in each channel, without residues."""
    spread = requantisation.multipliers * (reach.size if len(requantisation.multipliers) == 1 else 1)
    ranges = [_shifts(requantisation, m, int(largest)) for m, largest in zip(spread, reach, strict=True)]
    whole = np.asarray([bool(shifts) for shifts in ranges])
    allowed = [shifts for shifts in ranges if shifts]
    common = min((shifts[-1] for shifts in allowed), default=0)
    one = all(shifts[0] <= common for shifts in allowed)
    shift = np.asarray([(common if one else shifts[-1]) if shifts else 0 for shifts in ranges], np.int64)
    values = [round(m * power(32 + int(s))) if w else 0 for m, s, w in zip(spread, shift, whole, strict=True)]
    return WholeMultipliers(whole, np.asarray(values, np.int64), shift)


def _shifts(requantisation: Requantisation, multiplier: Fraction, reach: int) -> Sequence[int]:
    """The shifts under which a multiplier is whole and no sum meets a half; any where no sum leaves the zero point."""
    denominator = multiplier.denominator
    if requantisation.rules or requantisation.residues or denominator & (denominator - 1) or 2 * reach >= denominator:
        return ()
    least = 1 if 4 * reach * multiplier < 1 else max(1, denominator.bit_length() - 1 - 32)
    return range(least, largest_shift(requantisation, multiplier, reach, 0) + 1)
