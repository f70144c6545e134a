"""Rounding of integers to powers of two with drawn numbers: right in the mean, and the same numbers on every target.

What is drawn depends on a count of steps, on a number of the node's own and on the place of the element alone, so that
elements may be computed in any order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tilewright.model import Array

Words = npt.NDArray[np.uint32]

STEPS, PLACES, MIXED = 0x85EBCA6B, 0x9E3779B9, 0x2C1B3C6D
"""Odd factors of the count of steps, of the place of an element, and of what is mixed of both."""
MOST_BITS = 30
"""Bits that are rounded away at most."""


def drawn_from(count: int, own: int) -> int:
    """Where the numbers of a call begin: of the count of steps and the node's own number."""
    word = (count * STEPS + own) & 0xFFFFFFFF
    word ^= word >> 13
    word = word * MIXED & 0xFFFFFFFF
    return word ^ word >> 16


def drawn(start: int, size: int) -> Words:
    """A word for each of the elements 0 to `size`."""
    words = np.arange(size, dtype=np.uint32) * np.uint32(PLACES) + np.uint32(start)
    words ^= words >> np.uint32(15)
    return np.asarray(words * np.uint32(MIXED), np.uint32)


def dithered(values: Array, bits: int, words: Words) -> Array:
    """`values / 2^bits` rounded up or down, the nearer the likelier; `values` are int64 below 2^30."""
    if bits <= 0:
        return values
    if bits > MOST_BITS:
        values, bits = values >> min(bits - MOST_BITS, 62), MOST_BITS
    return np.asarray((values + (words >> np.uint32(32 - bits)).astype(np.int64).reshape(values.shape)) >> bits)
