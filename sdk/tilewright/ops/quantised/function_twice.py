"""Functions of one code of eight bits that TensorFlow Lite Micro's reference kernels have a way of their own for.

Sources: tensorflow/lite/micro/kernels/{elementwise,elu}.cc; kernels/internal/quantization_util.cc.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType, Quantisation
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.requantize import Integers, half_away

ROOT_BITS = 20
"""Fraction bits that an inverse root is held with before it is brought to the scale of its result."""
MOST_ROOT_SHIFT = 10
"""The shift to the left by which an inverse root of one, with its fraction bits, still fits 32 bits."""
_STEPS = 5
_THREE_HALVES = (1 << 28) + (1 << 27)
_HALF_ROOT_OF_TWO = 1518500250
_INT32 = (1 << 31) - 1


def absolute(centred: Integers, source: float, target: float) -> Integers:
    """The absolute value in steps of the result."""
    return np.abs(centred) if source == target else Twice.of(source / target).apply(np.abs(centred))


def elu(centred: Integers, source: float, meaning: Quantisation, dtype: DType) -> Array:
    """The codes of x and, below 0, of exp(x) - 1: all of it in float32."""
    x = np.float32(source) * centred.astype(np.float32)
    low = np.exp(np.minimum(x, 0).astype(np.float64)).astype(np.float32) - np.float32(1)
    steps = half_away(np.where(x < 0, low, x) * (np.float32(1) / np.float32(meaning.scale[0])))
    codes = np.clip(steps.astype(np.float32) + np.float32(meaning.zero_point[0]), *dtype.range)
    return np.asarray(codes.astype(np.int64))


def root_rule(source: Quantisation, target: Quantisation) -> Twice:
    """What brings the inverse root of a code to the scale of the result, where it has `ROOT_BITS` fraction bits."""
    scale = float(np.sqrt(np.float32(source.scale[0])) * np.float32(target.scale[0]))
    rule = Twice.of(1.0 / scale)
    return Twice(rule.multiplier, rule.shift - ROOT_BITS)


def inverse_root(codes: Array, source: Quantisation, target: Quantisation, dtype: DType) -> Array:
    """The codes of 1 / sqrt(x), the largest of 0; below 0 the kernels stop, and the largest stands here as well."""
    narrowed, one = root_rule(source, target), np.ones((), np.int64)
    results = np.full(codes.shape, dtype.range[1], np.int64)
    for place, number in enumerate((codes.astype(np.int64) - source.zero_point[0]).tolist()):
        if number > 0:
            multiplier, shift = root_multiplier(number)
            steps = narrowed.apply(Twice(multiplier, shift + ROOT_BITS).apply(one))
            results[place] = int(steps) + target.zero_point[0]
    return np.clip(results, *dtype.range).astype(dtype.numpy)


def root_multiplier(number: int) -> tuple[int, int]:
    """GetInvSqrtQuantizedMultiplierExp: 1 / sqrt(number) as a multiplier of 31 bits and its shift to the left."""
    if number <= 1:
        return _INT32, 0
    right = 11
    while number >= 1 << 29:
        number //= 4
        right += 1
    pairs = (32 - number.bit_length() - 1) // 2 - 1  # of bits, so that the number lies in [2^27, 2^29)
    number, right = number << 2 * pairs, right - pairs
    # Newton's steps for 1 / sqrt in Q3.28; the product of two of these has six bits before its point.
    half, x = ((number >> 1) + 1) // 2, 1 << 28
    for _ in range(_STEPS):
        cubed = _rescaled(_doubled(_doubled(x, x), x), 6)
        x = _rescaled(_doubled(_THREE_HALVES, x) - _doubled(half, cubed), 3)
    x = _doubled(x, _HALF_ROOT_OF_TWO)
    if right < 0:
        x, right = x << -right, 0
    return x, -right


def _doubled(a: int, b: int) -> int:
    product = a * b
    nudged = product + ((1 << 30) if product >= 0 else 1 - (1 << 30))
    return nudged >> 31 if nudged >= 0 else -(-nudged >> 31)


def _rescaled(x: int, bits: int) -> int:
    """SaturatingRoundingMultiplyByPOT: as many bits of the whole become bits of the fraction."""
    return max(-_INT32 - 1, min(x << bits, _INT32))
