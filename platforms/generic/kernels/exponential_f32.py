"""The exponential of a negative float as a polynomial: what kernels print instead of a call of the library."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from tilewright.numerics import literal
from tilewright.platform import DType

CURVE = (
    0.4999999701976776, -0.1666654348373413, 0.04166720062494278, -0.008366547524929047, 0.0013882514322176576,
)  # fmt: skip
"""`exp(-r) - 1 = -r + r^2 * (these, from the lowest power on)` within 1.4e-8 of itself for |r| up to half of log 2.

Minimax by least squares, whose weights are raised where the error is largest.
"""
FARTHEST = 88.0
"""From here on the exponential is below the smallest normal number and becomes 0."""
HIGH_PART = 0.693359375
"""Of log 2, with so few bits that its multiples up to 127 are exact; the rest of it is subtracted after."""


@dataclass(frozen=True)
class Exponential:
    """The numbers that `exponential_f32.c.mako` prints; those of the curve stand from the highest power on."""

    farthest: str
    turns: str
    high_part: str
    low_part: str
    curve: tuple[str, ...]


def coefficients(values: tuple[float, ...]) -> tuple[str, ...]:
    """C of a polynomial's coefficients, the highest power first."""
    return tuple(literal(DType.F32, value) for value in reversed(values))


def exponential() -> Exponential:
    """The numbers of `exp(-power)` for powers that are not negative."""
    return Exponential(
        farthest=literal(DType.F32, FARTHEST),
        turns=literal(DType.F32, 1 / log(2)),
        high_part=literal(DType.F32, HIGH_PART),
        low_part=literal(DType.F32, float(np.float32(HIGH_PART - log(2)))),
        curve=coefficients(CURVE),
    )
