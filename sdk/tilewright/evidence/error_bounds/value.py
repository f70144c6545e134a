"""What is known of a tensor while errors are followed, and what a rule says of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array
from tilewright.ops.operator import Call

UNIT = 2.0**-24
"""Unit roundoff of float32, rounded to nearest."""
TINY = 2.0**-149
"""The spacing of float32 below its normal numbers: what a product may lose beside its relative error."""
DOUBLE = 2.0**-53
"""Unit roundoff of the doubles that exact values are computed in."""
SLACK = 2.0**-40
"""Relative allowance for our own arithmetic in doubles, of up to 2^12 operations one after the other."""


@dataclass(frozen=True)
class Known:
    """A tensor: every exact value lies in [low, high], what the C computes differs from it by at most `error`."""

    low: Array
    high: Array
    error: Array

    @property
    def centre(self) -> Array:
        """The middle of the exact values."""
        return (self.low + self.high) / 2

    @property
    def magnitude(self) -> Array:
        """The largest magnitude of what the C computes."""
        size: Array = np.maximum(np.abs(self.low), np.abs(self.high)) + self.error
        return size


Back = Callable[[Array], Sequence[Array | None]]
"""From weights on errors of a result, with a first axis of rows, to those on errors of every operand."""
Ahead = Callable[[Sequence[Array]], Array]
"""From errors of the operands to the linear part of that of the result."""


@dataclass(frozen=True)
class Step:
    """What a node is for errors: box of its exact results, how its operands' `errors` reach them, and what it adds.

    `rounding` bounds the roundings of a result, `spread` is the root of the sum of squares of the bounds of each of
    them (for the likely bound), `remainder` bounds what is not linear. The linear part is `ahead`, with a first axis of
    rows, `back` its adjoint, and `reach` what it makes of bounds of the operands' errors. `shift` is what is known of
    the error of the results with its sign, beside all that.
    """

    low: Array
    high: Array
    errors: Sequence[Array]
    reach: Ahead
    rounding: Array
    spread: Array
    remainder: Array
    ahead: Ahead
    back: Back
    rule: str
    shift: Array | None = None

    @property
    def carried(self) -> Array:
        """What reaches the results of the operands' errors."""
        return self.reach(self.errors)

    @property
    def fresh(self) -> Array:
        """What the node adds, whatever it is."""
        return self.rounding + self.remainder

    @property
    def known(self) -> Known:
        """The results as operands of what follows."""
        error = self.carried + self.fresh
        return Known(self.low, self.high, error if self.shift is None else error + np.abs(self.shift))


@dataclass(frozen=True)
class NoBound:
    """Why there is no bound behind this node, in a sentence."""

    why: str


Rule = Callable[[Call, Sequence[Known], float], "Step | NoBound"]
"""A rule for a call whose operands are known; the number is the relative accuracy that the kernel declares."""


def gamma(roundings: int) -> float:
    """Higham's gamma_n = n u / (1 - n u): the relative error of n roundings one after the other, in any order."""
    return roundings * UNIT / (1 - roundings * UNIT)


def point(value: Array) -> Known:
    """A constant, which the C has exactly."""
    exact = value.astype(np.float64)
    return Known(exact, exact, np.zeros_like(exact))


def box(low: Array, high: Array, scale: Array) -> tuple[Array, Array]:
    """The box widened by what our own doubles may have lost; `scale` is the sum of magnitudes that went into it."""
    return low - SLACK * scale, high + SLACK * scale
