"""Sigmoid and tanh of codes of 16 bits as TensorFlow Lite Micro's reference kernels compute them.

    x    = (code * multiplier + half) >> shift                in steps of 2^-12 / 3, so that 2^17 is 10.7
    sigmoid by lines between 256 points of x = 0, 1/24, 2/24, ...; below zero by symmetry; tanh(x) = 2 sigmoid(2 x) - 1

A point is a sixteenth of the second difference above the curve, so that its lines lie on both sides of it.
Source: tensorflow/lite/kernels/internal/reference/integer_ops/{logistic,tanh}.h.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.requantize import Integers

STEP_BITS, LAST = 9, 255
"""A line of the sigmoid is 2^9 long, one of tanh half as long; from the last point on results do not change."""
RESULT_SCALE = 2.0**-15


def points() -> Array:
    """The sigmoid of 0, 1/24, ..., 255/24 in 2^-16, less a sixteenth of its second difference."""
    at = np.arange(-1, LAST + 2, dtype=np.float64) / 24
    curve = 65536 / (1 + np.exp(-at))
    lifted = curve[1:-1] - (curve[2:] - 2 * curve[1:-1] + curve[:-2]) / 16
    whole = np.floor(lifted + 0.5).astype(np.int64)
    whole[LAST] = 65535
    return np.asarray(whole)


def factor(scale: float) -> tuple[int, int]:
    """Multiplier and shift of an operand of this scale."""
    multiplier, shift = float(np.float32(scale)) * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    return int(multiplier), shift


def curved(codes: Integers, scale: float, tanh: bool) -> Integers:
    """The results' codes in `RESULT_SCALE`."""
    multiplier, shift = factor(scale)
    x = (codes * multiplier + ((1 << shift) >> 1)) >> shift
    bits, table, size = STEP_BITS - tanh, points(), np.abs(x)
    at = size >> bits
    inside = np.minimum(at, LAST - 1)
    line = (table[inside] << bits) + (size & ((1 << bits) - 1)) * (table[inside + 1] - table[inside])
    if tanh:
        line = np.where(at >= LAST, 0xFFFF << bits, line)
        return np.asarray(np.where(x >= 0, line - (1 << 23) + 128, (1 << 23) - line + 127) >> 8)
    line = np.where(at >= LAST, 0x7FFF << 10, line)
    return np.asarray(np.where(x >= 0, line + 512, (1 << 25) - line + 511) >> 10)
