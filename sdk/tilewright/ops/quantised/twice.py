"""The second contract of rounding, `--numerics tflm`: the integers of TensorFlow Lite Micro's reference kernels.

A multiplier is 31 bits and a shift; the high half of a doubled product is rounded, then what the shift leaves, ties
away from zero. Both roundings together are one multiplication, one addend that depends on the sign, and one shift:

    t = (sum * multiplier + 2^(30 + right) + (sum >= 0 ? 2^30 : -2^30)) >> (31 + right)       right = -shift >= 1

Layers of 16-bit codes and 8-bit weights add up in 64 bits and round once, by a multiplier cut to 15 bits.
Functions are gemmlowp's fixed point, evaluated for every code when the network is compiled.
Sources: tensorflow/lite/kernels/internal/common.cc (MultiplyByQuantizedMultiplier), quantization_util.cc,
reference/add.h, micro/kernels/squared_difference.cc,
reference/integer_ops/{mul,logistic,tanh,mean}.h; gemmlowp/fixedpoint/fixedpoint.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, frexp

import numpy as np

from tilewright.model import Array, Clamp, Quantisation
from tilewright.ops.requantize import Integers, half_away

ADD_BITS = {8: 20, 16: 15}
"""Fraction bits under the operands of Add and Sub, by the bits of a result's code."""
SQUARE_BITS = {8: 7, 16: 0}
"""The same under a difference that is squared."""


@dataclass(frozen=True)
class Twice:
    """`sum * multiplier * 2^(shift - 31)`, rounded twice, or `once` with halves up.

    The multiplier is 0 or of 31 bits.
    """

    multiplier: int
    shift: int
    once: bool = False

    @staticmethod
    def of(real: float) -> Twice:
        """QuantizeMultiplier of a number that is not negative."""
        if real == 0:
            return Twice(0, 0)
        fraction, shift = frexp(real)
        multiplier = floor(fraction * (1 << 31) + 0.5)
        if multiplier == 1 << 31:
            multiplier, shift = multiplier // 2, shift + 1
        return Twice(0, 0) if shift < -31 else Twice(multiplier, shift)

    @staticmethod
    def of_wide(real: float) -> Twice:
        """The rule for sums of 64 bits: the multiplier keeps its upper 15 bits and is rounded by once."""
        whole = Twice.of(real)
        upper = (whole.multiplier + (1 << 15)) >> 16 if whole.multiplier < 0x7FFF0000 else 0x7FFF
        return Twice(upper << 16, whole.shift, once=True)

    @property
    def value(self) -> Fraction:
        """The number that is multiplied with."""
        return Fraction(self.multiplier) * Fraction(2) ** (self.shift - 31)

    def apply(self, sums: Integers) -> Integers:
        """The rounded products of sums that fit 31 bits less the shift to the left."""
        left, right = max(self.shift, 0), max(-self.shift, 0)
        product = (sums << left) * self.multiplier
        if not right or self.once:
            return np.asarray((product + (1 << (30 + right))) >> (31 + right))
        sign = np.where(sums >= 0, 1 << 30, -(1 << 30))
        return np.asarray((product + (1 << (30 + right)) + sign) >> (31 + right))

    def first_sums(self, results: Array) -> Array:
        """The smallest sums whose rounded products are at least `results`; the multiplier is not 0."""
        right = max(-self.shift, 0)
        reach = int(np.abs(results).max(initial=0)) + 1
        narrow = reach << (31 + right) < 1 << 62 and self.multiplier << max(self.shift, 0) < 1 << 62
        whole = results.astype(np.int64 if narrow else object)
        if self.once:
            needed = (whole << (31 + right)) - (1 << (30 + right))
        else:
            high = whole if not right else (whole << right) - (1 << (right - 1)) + (results <= 0)
            needed = (high << 31) - (1 << 30)
        return np.asarray(-(-needed // (self.multiplier << max(self.shift, 0))))


@dataclass(frozen=True)
class RawMean:
    """The mean of `count` codes, summed as they are, ties away from zero; sums are given less the zero point."""

    count: int
    zero_point: int

    @property
    def value(self) -> Fraction:
        """One over the count."""
        return Fraction(1, self.count)

    def apply(self, sums: Integers) -> Integers:
        """The mean less the zero point, for sums of codes less it."""
        raw, half = sums + self.count * self.zero_point, self.count // 2
        mean = np.where(raw > 0, (raw + half) // self.count, -((half - raw) // self.count))
        return np.asarray(mean - self.zero_point)

    def first_sums(self, results: Array) -> Array:
        """The smallest sums whose means are at least `results`."""
        codes, half = results + self.zero_point, self.count // 2
        raw = np.where(codes >= 1, self.count * codes - half, self.count * (codes - 1) + half + 1)
        return np.asarray(raw - self.count * self.zero_point)


def limits_of(clamp: Clamp, meaning: Quantisation, codes: tuple[int, int]) -> tuple[int, int]:
    """CalculateActivationRangeQuantized: limits over a float32 scale, ties away from zero."""
    scale, zero = np.float32(meaning.scale[0]), meaning.zero_point[0]
    low, high = (
        side if np.isinf(limit) else int(half_away(np.asarray(np.float32(limit) / scale))) + zero
        for limit, side in zip((clamp.low, clamp.high), codes, strict=True)
    )
    low = max(codes[0], min(low, codes[1]))
    return low, max(low, min(high, codes[1]))


@dataclass(frozen=True)
class Addition:
    """Add (`sign` 1) or Sub (-1): both operands times 2^`bits` by a rule of their own, then their sum by a third."""

    left: Twice
    right: Twice
    total: Twice
    bits: int
    sign: int

    @staticmethod
    def of(scales: tuple[float, float, float], code_bits: int, sign: int) -> Addition:
        """The rules for operands and result of these scales."""
        doubled, bits = 2 * max(scales[:2]), ADD_BITS[code_bits]
        left, right = (Twice.of(scale / doubled) for scale in scales[:2])
        return Addition(left, right, Twice.of(doubled / ((1 << bits) * scales[2])), bits, sign)

    def apply(self, a: Integers, b: Integers) -> Integers:
        """The steps of the result of centred codes."""
        return self.total.apply(self.left.apply(a << self.bits) + self.sign * self.right.apply(b << self.bits))


@dataclass(frozen=True)
class Distance:
    """SQUARED_DIFFERENCE: both operands times 2^`bits` by a rule of their own, the square of their difference by a
    third."""

    left: Twice
    right: Twice
    total: Twice
    bits: int

    @staticmethod
    def of(scales: tuple[float, float, float], code_bits: int) -> Distance:
        """The rules for operands and result of these scales."""
        doubled, bits = 2 * max(scales[:2]), SQUARE_BITS[code_bits]
        left, right = (Twice.of(scale / doubled) for scale in scales[:2])
        return Distance(left, right, Twice.of(doubled * doubled / ((1 << 2 * bits) * scales[2])), bits)

    def apply(self, a: Integers, b: Integers) -> Integers:
        """The steps of the result of centred codes."""
        return self.total.apply(np.square(self.left.apply(a << self.bits) - self.right.apply(b << self.bits)))


def mean_multiplier(source: float, target: float, count: int) -> Twice:
    """The multiplier of a Mean over `count` codes: the count is divided out of as many bits as there are."""
    whole = Twice.of(source / target)
    shift = min(count.bit_length() - 1, 32, 31 + whole.shift)
    return Twice((whole.multiplier << shift) // count, whole.shift - shift)


# --------------------------------------------------------------------------------------- gemmlowp's fixed point
_INT32 = (1 << 31) - 1
_EXP_FACTORS = (
    (-2, 1672461947), (-1, 1302514674), (0, 790015084), (1, 290630308), (2, 39332535), (3, 720401), (4, 242),
)  # fmt: skip
"""exp(-2^k) in Q0.31."""


def doubled_high(a: Integers, b: Integers | int) -> Integers:
    """SaturatingRoundingDoublingHighMul: the product over 2^31, cut towards zero behind a half with its sign."""
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    return np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31)).astype(np.int64)


def rounded_over(x: Integers, exponent: Integers | int) -> Integers:
    """RoundingDivideByPOT: ties away from zero."""
    mask = (np.int64(1) << exponent) - 1
    return np.asarray((x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0)))


def shifted(x: Integers, exponent: int) -> Integers:
    """SaturatingRoundingMultiplyByPOT."""
    if exponent < 0:
        return rounded_over(x, -exponent)
    limited: Integers = np.clip(x << exponent, -_INT32 - 1, _INT32)
    return limited


def _exp_on_interval(a: Integers) -> Integers:
    """exp of Q0.31 in [-1/4, 0)."""
    x = a + (1 << 28)
    x2 = doubled_high(x, x)
    x3, x4 = doubled_high(x2, x), doubled_high(x2, x2)
    series = shifted(doubled_high(shifted(x4, -2) + x3, 715827883) + x2, -1)
    return np.asarray(1895147668 + doubled_high(x + series, 1895147668))


def exp_of_negative(a: Integers, whole_bits: int) -> Integers:
    """exp of numbers up to 0 with `whole_bits` bits before the point, in Q0.31."""
    fraction_bits = 31 - whole_bits
    quarter = 1 << (fraction_bits - 2)
    part = (a & (quarter - 1)) - quarter
    result, rest = _exp_on_interval(shifted(part, whole_bits)), part - a
    for exponent, factor in _EXP_FACTORS:
        if whole_bits > exponent:
            result = np.where(rest & (1 << (fraction_bits + exponent)), doubled_high(result, factor), result)
    if whole_bits > 5:
        result = np.where(a < -(1 << (fraction_bits + 5)), 0, result)
    return np.where(a == 0, _INT32, result).astype(np.int64)


def _newton(a: Integers) -> Integers:
    """1 / ((1 + a) / 2) of Q0.31 in [0, 1], in Q2.29, by three steps."""
    total = a + _INT32
    half = (total + 1) // 2  # half of the sum, ties away from zero; it is not negative
    x = 1515870810 + doubled_high(half, -1010580540)
    for _ in range(3):
        x = x + shifted(doubled_high(x, (1 << 29) - doubled_high(half, x)), 2)
    return x


def reciprocal(a: Integers) -> Integers:
    """1 / (1 + a) of Q0.31 in [0, 1], in Q0.31."""
    return shifted(_newton(a), 1)


def _radius(whole_bits: int, left: int) -> int:
    """The largest input that does not leave the fixed point."""
    return floor(((1 << whole_bits) - 1) * (1 << (31 - whole_bits)) / (1 << left))


def logistic(centred: Integers, scale: float) -> Integers:
    """Sigmoid of 8-bit codes less their zero point, as a code of scale 1/256 and zero point -128."""
    fraction, shift = frexp(scale * (1 << 27))
    x = Twice(floor(fraction * (1 << 31) + 0.5), shift).apply(centred)
    inverse = reciprocal(exp_of_negative(-np.abs(x), 4))
    value = np.where(x == 0, 1 << 30, np.where(x > 0, inverse, _INT32 - inverse))
    return _outside(centred, _radius(4, shift), np.clip(rounded_over(value, 23) - 128, -128, 127), -128)


def tanh(centred: Integers, scale: float) -> Integers:
    """Tanh of 8-bit codes less their zero point, as a code of scale 1/128 and zero point 0."""
    fraction, shift = frexp(scale * (1 << 27))
    x = Twice(floor(fraction * (1 << 31) + 0.5), shift).apply(centred)
    value = shifted(_newton(exp_of_negative(-np.abs(x), 5)) - (1 << 29), 2)
    signed = np.where(x == 0, 0, np.where(x > 0, value, -value))
    return _outside(centred, _radius(4, shift), np.clip(rounded_over(signed, 24), -128, 127), -128)


def _outside(centred: Integers, radius: int, inside: Array, lowest: int) -> Integers:
    return np.where(centred <= -radius, lowest, np.where(centred >= radius, 127, inside)).astype(np.int64)
