"""DIV as TensorFlow Lite Micro's reference kernel computes it: by the inverse of the divisor, which has 31 bits.

    inverse   = 1 / (divisor's fraction in [1, 2)), in Q0.31, by three steps of Newton
    quotient  = the dividend, as far to the left as 32 bits go, times the inverse, then times the scales: both rounded

The kernel leaves open what a divisor of 0 gives; here it is the largest code of the dividend's sign, and 0 of 0.
Source: tensorflow/lite/kernels/internal/reference/div.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from tilewright.model import DType, Quantisation
from tilewright.ops.quantised.twice import Twice, doubled_high, reciprocal, rounded_over
from tilewright.ops.requantize import Integers

MOST_SHIFT = 31
"""Bits that a quotient may be shifted by: more are not defined."""
SATURATED = 1 << 16
"""The quotient by 0 of a number that is none."""


@dataclass(frozen=True)
class Quotient:
    """The multiplier for quotients of codes less their zero points."""

    rule: Twice

    @staticmethod
    def of(first: float, second: float, target: float) -> Quotient:
        """For scales of both operands and the result."""
        return Quotient(Twice.of(first / (second * target)))

    def apply(self, a: Integers, b: Integers) -> Integers:
        """The result less its zero point."""
        dividend, divisor = np.where(b < 0, -a, a), np.where(b == 0, 1, np.abs(b))
        zeros = 32 - _bits(divisor)
        inverse = reciprocal((divisor << zeros) - (1 << 31))
        room = headroom(dividend)
        quotients = doubled_high(dividend << room, inverse)
        right = (31 - zeros) + room - self.rule.shift
        steps = rounded_over(doubled_high(quotients, self.rule.multiplier), right)
        return np.where(b == 0, np.sign(a) * SATURATED, steps).astype(np.int64)


def headroom(numbers: Integers) -> Integers:
    """CountLeadingSignBits: how far a number of 32 bits may go to the left."""
    return np.asarray(31 - _bits(np.where(numbers < 0, -numbers - 1, numbers)))


def _bits(numbers: Integers) -> Integers:
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def shifts(quotient: Quotient, first: Quantisation, second: Quantisation) -> tuple[int, int]:
    """The least and the largest shift to the right that codes of eight bits can bring."""
    dividends, divisors = (
        np.arange(DType.I8.range[0], DType.I8.range[1] + 1) - meaning.zero_point[0] for meaning in (first, second)
    )
    sizes = np.abs(divisors[divisors != 0])
    rooms = headroom(np.concatenate([dividends, -dividends]))
    rights = [int(bits) - 1 + int(room) - quotient.rule.shift
             for bits, room in product(np.unique(_bits(sizes)), np.unique(rooms))]  # fmt: skip
    return min(rights), max(rights)
