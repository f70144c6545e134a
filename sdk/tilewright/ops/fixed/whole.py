"""Whole numbers as kernels compute them: high halves of products, shifts, a reciprocal and an inverse root.

What `fixed.h` has in C, on arrays of int64. Numbers are of 32 bits between operations, products of 64.
"""

from __future__ import annotations

from math import frexp

import numpy as np

from tilewright.ops.requantize import Integers

ONE = 1 << 30
ROOTS = tuple(round((1 << 15) / (((step + 0.5) / 8) ** 0.5)) for step in range(8, 32))
"""First guesses of an inverse root for the 24 eighths from 1 to 4, 2^15 for 1."""


def high(a: Integers | int, b: Integers | int) -> Integers:
    """The upper 32 bits of a product of 64."""
    return np.asarray(np.asarray(a, np.int64) * np.asarray(b, np.int64) >> 32)


def moved(value: Integers, bits: Integers | int) -> Integers:
    """The value times 2^bits, rounded down."""
    places = np.asarray(bits, np.int64)
    return np.asarray(value << np.maximum(places, 0) >> np.maximum(-places, 0))


def bit_length(value: Integers) -> Integers:
    """Bits of numbers from 0 to 2^53."""
    return np.asarray(np.frexp(value.astype(np.float64))[1], np.int64)


def wide_length(value: Integers) -> Integers:
    """Bits of numbers from 0 to 2^63."""
    upper = value >> 32
    return np.where(upper > 0, 32 + bit_length(upper), bit_length(value & (1 << 32) - 1))


def headroom(size: Integers) -> Integers:
    """The bits that a number below 2^31 can be shifted to the left by, at most 31."""
    return np.asarray(31 - bit_length(size))


def reciprocal(value: Integers) -> Integers:
    """2^60 over numbers from 2^30 to 2^31: a quotient of 16 bits and one step of Newton's; within 2^-27 of itself."""
    first = ((1 << 31) // (value >> 15)) << 14
    rest = ONE - (value * first >> 30)
    return np.asarray(first + (first * rest >> 30))


def inverse_root(value: Integers) -> Integers:
    """2^45 over the root of numbers from 2^30 to 2^32: three steps of Newton's; within 2^-27 of itself."""
    root = np.asarray(ROOTS, np.int64)[(value >> 27) - 8] << 15
    for _ in range(3):
        rest = ONE - (value * (root * root >> 30) >> 30)
        root = root + (root * rest >> 31)
    return np.asarray(root)


def mantissa(value: float) -> tuple[int, int]:
    """Whole `m` and `e` with value = m * 2^e and |m| in [2^30, 2^31); zeros for zero."""
    fraction, exponent = frexp(value)
    whole = round(fraction * (1 << 31))
    if abs(whole) == 1 << 31:
        whole, exponent = whole // 2, exponent + 1
    return whole, exponent - 31 if whole else 0
