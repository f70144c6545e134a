"""Functions that elements of a layer should be: exact, on every value of their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tilewright.prove.linear import Leaf

Sums = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]


class Rule(Protocol):
    """A function of sums; equal rules are equal functions."""

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest code that it gives."""

    def codes(self, sums: Sequence[Sums]) -> Sums:
        """The codes for these values of the sums."""


@dataclass(frozen=True)
class Expected:
    """What one element should be: a rule on sums over codes."""

    leaves: tuple[Leaf, ...]
    rule: Rule


@dataclass(frozen=True)
class Requantised:
    """`clamp(zero + round_half_even((common * units * sum + constant) * ratio), low, high)`, exactly.

    `ratio` is per unit: `units` of them are one of the sum's.
    """

    common: int
    units: int
    ratio: Fraction
    zero: int
    low: int
    high: int
    constant: int = 0

    @property
    def limits(self) -> tuple[int, int]:
        """See `Rule`."""
        return self.low, self.high

    def codes(self, sums: Sequence[Sums]) -> Sums:
        """See `Rule`."""
        if not sums or not self.ratio:
            total = (self.constant if not sums else 0) * self.ratio
            code = min(max(round(total) + self.zero, self.low), self.high)
            return np.full(sums[0].shape if sums else 1, code, np.int64)
        if self.common < 0:
            return replace(self, common=-self.common).codes([-sums[0]])
        return self.low + np.searchsorted(_first_sums(self), sums[0], side="right")


@lru_cache(maxsize=4096)
def _first_sums(rule: Requantised) -> Sums:
    """The smallest sum that gives each code above the lowest."""
    result = []
    step = rule.common * rule.units
    for code in range(rule.low + 1, rule.high + 1):
        steps = code - rule.zero
        # round_half_even(v) >= steps where v > steps - 1/2, or v = steps - 1/2 and steps is even
        tie = (steps - Fraction(1, 2)) / rule.ratio
        least = -(-tie.numerator // tie.denominator)
        if steps % 2 and tie.denominator == 1:
            least += 1
        result.append(-((rule.constant - least) // step))
    limited = [min(max(each, -(1 << 62)), 1 << 62) for each in result]
    return np.asarray(limited, np.int64)


@dataclass(frozen=True)
class Selected:
    """An entry of a table by one code; `first` is the code of the first entry."""

    values: tuple[int, ...]
    first: int

    @property
    def limits(self) -> tuple[int, int]:
        """See `Rule`."""
        return min(self.values), max(self.values)

    def codes(self, sums: Sequence[Sums]) -> Sums:
        """See `Rule`."""
        table = np.asarray(self.values, np.int64)
        return table[sums[0] - self.first] if sums else table[:1]


@dataclass(frozen=True)
class OfPair:
    """An entry of a table by two codes."""

    table: bytes
    first: int
    second: int
    columns: int

    @property
    def limits(self) -> tuple[int, int]:
        """See `Rule`."""
        values = np.frombuffer(self.table, np.int64)
        return int(values.min()), int(values.max())

    def codes(self, sums: Sequence[Sums]) -> Sums:
        """See `Rule`."""
        table = np.frombuffer(self.table, np.int64).reshape(-1, self.columns)
        return table[sums[0] - self.first, sums[-1] - self.second]


@dataclass(frozen=True)
class Largest:
    """The largest of `count` codes."""

    count: int
    low: int
    high: int

    @property
    def limits(self) -> tuple[int, int]:
        """See `Rule`."""
        return self.low, self.high

    def codes(self, sums: Sequence[Sums]) -> Sums:
        """See `Rule`."""
        result = sums[0]
        for each in sums[1:]:
            result = np.maximum(result, each)
        return result


def one_code(number: int, rule: Rule) -> Expected:
    """A rule on one code."""
    return Expected((((number, 1),),), rule)


def summed(numbers: Numbers, factors: Numbers, rule: Requantised) -> Expected:
    """A rule on a sum over codes, whose numbers are sorted; the same one may come several times."""
    if numbers.size > 1 and (numbers[1:] == numbers[:-1]).any():
        numbers, first = np.unique(numbers, return_index=True)
        factors = np.add.reduceat(factors, first)
    used = factors != 0
    if not used.all():
        numbers, factors = numbers[used], factors[used]
    if not numbers.size:
        return Expected((), rule)
    listed = factors.tolist()
    common = gcd(*listed)
    if listed[0] < 0:
        common = -common
    if common != 1:
        listed = [factor // common for factor in listed]
    leaf = tuple(zip(numbers.tolist(), listed, strict=True))
    return Expected((leaf,), replace(rule, common=common))
