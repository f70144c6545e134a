"""The one integer semantics: how exact sums of products become codes of a quantised tensor.

    code = clamp(zero_point + round_half_even(acc * m), low, high)

`m` is a rational number: the float32 value of `input_scale * weight_scale / output_scale`, computed in float32 in this
order as ONNX's QLinearConv does, divided by a whole number where the operator takes a mean. The product is exact and
never rounded to float32. NumPy's executor, the proofs and every kernel follow this file.

`quantise` and `dequantise` are ONNX's QuantizeLinear and DequantizeLinear, literally in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tilewright.errors import UnsupportedError
from tilewright.ieee import ieee
from tilewright.model import Array, DType, Quantisation

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

LARGEST_EXPONENT = 62
RESIDUE_BITS = 16
"""A real-valued bias is held in units of 2**-16 of the accumulator: a whole part and a residue."""

_SAFE = 1 << 62


def float32_multipliers(
    input_scale: float, weight_scales: Sequence[float], output_scale: float
) -> tuple[Fraction, ...]:
    """`input_scale * weight_scale / output_scale` for every weight scale, rounded to float32 after each operation.

    UnsupportedError where one of them is beyond float32.
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        product = np.float32(input_scale) * np.asarray(weight_scales, np.float32)
        ratio = product / np.float32(output_scale)
    if not np.isfinite(ratio).all():
        largest = float(np.abs(np.asarray(weight_scales, np.float64)).max())
        raise UnsupportedError(
            "the scales of a quantised layer cannot be used together",
            why=f"{input_scale:g} * {largest:g} / {output_scale:g} is beyond float32",
            fix="check how the model was quantised",
        )
    return tuple(Fraction(float(value)) for value in ratio)


class Rule(Protocol):
    """A rounding that is not the exact one: a monotone function of sums, without zero point and limits."""

    @property
    def value(self) -> Fraction:
        """The multiplier that it is near to."""

    def apply(self, sums: Integers) -> Integers:
        """The rounded products."""

    def first_sums(self, results: Array) -> Array:
        """The smallest sums whose products are at least `results`."""


@dataclass(frozen=True)
class Requantisation:
    """From accumulators to codes: one exact multiplier for all channels, or one for each.

    `residues` add a fraction of an accumulator unit to each channel, in units of 2**-16; empty where there is none.
    `rules` take the place of the exact products where there are any; the multipliers are then theirs.
    """

    multipliers: tuple[Fraction, ...]
    zero_point: int
    low: int
    high: int
    residues: tuple[int, ...] = ()
    rules: tuple[Rule, ...] = ()

    @staticmethod
    def by(rules: Sequence[Rule], zero_point: int, low: int, high: int) -> Requantisation:
        """The requantisation of these rules, one for all channels or one for each."""
        return Requantisation(tuple(rule.value for rule in rules), zero_point, low, high, (), tuple(rules))

    @property
    def channels(self) -> int:
        """Number of different multipliers or residues; 1 where all channels are alike."""
        return max(len(self.multipliers), len(self.residues))

    def rational(self) -> tuple[Array, Array, Array]:
        """(residue, numerator, denominator) per channel: value = ((acc << bits) + residue) * numerator / denominator.

        Arrays are int64 where that is wide enough, else Python integers.
        """
        scaled = [m / (1 << self.bits) for m in self.multipliers]
        residue = np.asarray(self.residues or (0,), np.int64) >> (RESIDUE_BITS - self.bits if self.residues else 0)
        return residue, integers([m.numerator for m in scaled]), integers([m.denominator for m in scaled])

    @property
    def bits(self) -> int:
        """Fraction bits under the accumulator: as many of 16 as the residues use."""
        used = 0
        for residue in self.residues:
            used |= residue
        return RESIDUE_BITS - min((used & -used).bit_length() - 1, RESIDUE_BITS) if used else 0

    def leaves_64_bits(self, largest: int) -> bool:
        """Whether a product of the exact sequence could be too large for 64 bits, for sums up to `largest`."""
        _, numerator, denominator = self.rational()
        top = ((largest + 1) << self.bits) * max(abs(int(n)) for n in numerator.tolist())
        return top >= 1 << LARGEST_EXPONENT or max(int(d) for d in denominator.tolist()) >= 1 << LARGEST_EXPONENT

    def apply(self, acc: Integers, axis: int = -1) -> Integers:
        """Codes of the accumulators `acc`, whose dimension `axis` counts channels where there are several."""
        if self.rules:
            return self._by_rules(acc, axis)
        shape = [1] * acc.ndim
        if self.channels > 1:
            shape[axis] = self.channels
        residue, numerator, denominator = (
            np.broadcast_to(part, (self.channels,)).reshape(shape) for part in self.rational()
        )
        largest = max(abs(int(acc.max(initial=0))), abs(int(acc.min(initial=0)))) + 1
        wide = numerator.dtype == object or denominator.dtype == object
        if wide or (largest << self.bits) * int(numerator.max()) >= _SAFE or int(denominator.max()) >= _SAFE:
            acc, numerator, denominator = acc.astype(object), numerator.astype(object), denominator.astype(object)
        scaled = (acc * (1 << self.bits) + residue) * numerator
        rounded = divide_half_even(scaled, denominator)
        codes: Integers = np.clip(rounded + self.zero_point, self.low, self.high).astype(np.int64)
        return codes

    def _by_rules(self, acc: Integers, axis: int) -> Integers:
        rounded = np.empty(acc.shape, np.int64)
        if len(self.rules) == 1:
            rounded[...] = self.rules[0].apply(acc)
        else:
            sums, results = np.moveaxis(acc, axis, 0), np.moveaxis(rounded, axis, 0)
            for channel, rule in enumerate(self.rules):
                results[channel] = rule.apply(sums[channel])
        codes: Integers = np.clip(rounded + self.zero_point, self.low, self.high)
        return codes


def integers(values: Sequence[int]) -> Array:
    """An int64 array, or one of Python integers where a value needs more bits."""
    wide = any(abs(value) >= _SAFE for value in values)
    return np.asarray(values, object if wide else np.int64)


def divide_half_even(numerator: Array, denominator: Array | int) -> Array:
    """The quotient of integer arrays rounded to the nearest integer, ties to the even one; denominators positive."""
    quotient = numerator // denominator
    twice = (numerator - quotient * denominator) * 2
    up = (twice > denominator) | ((twice == denominator) & (quotient % 2 == 1))
    return np.asarray(quotient + up)


def requantise(
    acc: Integers, multiplier: Fraction | float, zero_point: int, low: int, high: int, axis: int = -1
) -> Integers:
    """`clamp(zero_point + round_half_even(acc * multiplier), low, high)` for one multiplier, exactly."""
    return Requantisation((Fraction(multiplier),), zero_point, low, high).apply(acc, axis)


def per_axis(values: Sequence[float] | Sequence[int], axis: int | None, rank: int, dtype: npt.DTypeLike) -> Array:
    """Scales or zero points as an array that broadcasts over a tensor of `rank` dimensions."""
    array = np.asarray(values, dtype)
    if axis is None or rank == 0:
        return array.reshape(()) if array.size == 1 else array
    shape = [1] * rank
    shape[axis] = array.size
    return array.reshape(shape)


@ieee
def dequantise(codes: Array, quantisation: Quantisation) -> Floats:
    """DequantizeLinear: `(code - zero_point) * scale`, the product rounded to float32."""
    zero = per_axis(quantisation.zero_point, quantisation.axis, codes.ndim, np.int64)
    scale = per_axis(quantisation.scale, quantisation.axis, codes.ndim, np.float32)
    with np.errstate(over="ignore", under="ignore"):
        real: Floats = (codes.astype(np.int64) - zero).astype(np.float32) * scale
    return real


def half_away(value: Array) -> Array:
    """The nearest whole numbers of floats, ties away from zero."""
    whole = np.trunc(value)
    rest = value - whole  # exact, where value + 0.5 is not
    return np.asarray(whole + (rest >= 0.5) - (rest <= -0.5))


def quantise(real: Array, quantisation: Quantisation, dtype: DType) -> Array:
    """QuantizeLinear: the float32 quotient rounded to nearest, the zero point added, saturated to `dtype`.

    Halves go to the even number, or under TensorFlow Lite Micro's contract away from zero (reference/quantize.h).
    """
    low, high = dtype.range
    zero = per_axis(quantisation.zero_point, quantisation.axis, real.ndim, np.int64)
    scale = per_axis(quantisation.scale, quantisation.axis, real.ndim, np.float32)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        quotient = real.astype(np.float32) / scale
        steps = half_away(quotient) if quantisation.numerics == "tflm" else np.rint(quotient)
    # Quotients beyond 2**40 steps saturate anyway; NaN has no code and takes the lowest, as in ONNX Runtime.
    wide = np.nan_to_num(steps.astype(np.float64), nan=-np.inf)
    bounded = np.clip(wide, -(2.0**40), 2.0**40).astype(np.int64)
    return np.clip(bounded + zero, low, high).astype(dtype.numpy)


def code_of(real: float, scale: float, zero_point: int, dtype: DType) -> int:
    """The code of one real number; infinities give the ends of the type's range."""
    low, high = dtype.range
    if real == float("inf"):
        return high
    if real == float("-inf"):
        return low
    return int(quantise(np.asarray(real, np.float32), Quantisation((scale,), (zero_point,)), dtype))
