"""LayerNormalization and RMSNormalization on codes, in integers.

    d = length * code - sum of codes            or d = code - zero point, whose mean is not taken away
    w = (v << f) + epsilon                      v = the sum of d * d, by length for a mean that is taken away
    t = round(d * (2**60 // root) >> shift)     root = floor(sqrt(w)), shifted to 31 bits; t is d / sqrt(v) in 2**-bits
    code = zero_point + round_half_even(t * scale + bias)

Sums are exact, so rows have one result in any order. `NormalisedForm.error` bounds what the rounded root, reciprocal
and factors are off by. All of it fits into signed 64-bit integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.model import Array
from tilewright.ops.codes import Normalises
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.requantize import Integers

RECIPROCAL_BITS, ROOT_BITS = 60, 31
WIDE = 62
"""Bits of what is under the root."""
_MOST_FRACTION, _FACTOR_BITS, _MOST_FACTOR, _MOST_SHIFT, _UNIT_BITS = 40, 30, 24, 50, 29


@dataclass(frozen=True)
class NormalisedForm:
    """The numbers of rows of `length` codes; `centre` is the zero point where no mean is taken away.

    An element has `root_bits` of fraction when it is divided, `factors` have `factor_bits`, and `addends` times
    `addend_unit` as many as both together.
    """

    length: int
    centred: bool
    centre: int
    fraction_bits: int
    epsilon: int
    root_bits: int
    factors: Integers
    factor_bits: int
    addends: Integers
    addend_unit: int
    zero_point: int
    low: int
    high: int

    @property
    def result_bits(self) -> int:
        """Bits of fraction behind the last product."""
        return self.root_bits + self.factor_bits

    @property
    def error(self) -> float:
        """Of a step: how far a result within the limits may lie from that of exact arithmetic before it is rounded."""
        least = max(self.length - 1, 1) if self.centred else 1
        relative = 1 / isqrt((least << self.fraction_bits) + self.epsilon) + 2.0 ** (ROOT_BITS - RECIPROCAL_BITS)
        factor, addend = (float(np.abs(one).max(initial=0)) for one in (self.factors, self.addends))
        addend_scale = self.addend_unit / 2**self.result_bits
        reach = self.high - self.low + addend * addend_scale
        part = factor * 2.0 ** (-self.result_bits - 1) + 2.0 ** (_UNIT_BITS - self.result_bits - 1)
        return float(reach * relative + part + addend_scale / 2)

    @property
    def shift(self) -> int:
        """By how much a product with a reciprocal is shifted, less the bits by which the root was."""
        return RECIPROCAL_BITS - self.fraction_bits // 2 - self.root_bits


def normalised_form(call: Call) -> NormalisedForm:
    """The constants of a normalisation on codes; UnsupportedNode where 64 bits do not hold it."""
    form = _form(call)
    if form is None:
        raise call.unsupported("its rows or scales leave 64 bits, or are no constants", "keep it in float")
    return form


def has_normalised_form(call: Call) -> bool:
    """True where integers of 64 bits hold a call on codes."""
    try:
        return _form(call) is not None
    except TilewrightError:  # an axis that is none, which the operator tells itself
        return False


def _form(call: Call) -> NormalisedForm | None:
    x, y = call.tensor(0), call.outputs[0]
    axis = call.integer("axis", -1) % max(len(x.shape), 1)
    over, length = x.shape[axis:], prod(x.shape[axis:])
    parameters = [_parameter(call, index, over) for index in (1, 2)]
    if parameters[0] is None or (call.optional(2) is not None and parameters[1] is None) or not length:
        return None
    if call.integer("stash_type", 1) != 1 or x.dtype.bits > 16 or length.bit_length() + x.dtype.bits > ROOT_BITS:
        return None
    centred, source, target = isinstance(call.codes, Normalises) and call.codes.centred, *map(the_quantisation, (x, y))
    step, unit = (Fraction(float(np.float32(one.scale[0]))) for one in (target, source))
    times = length**2 if centred else length
    epsilon = Fraction(float(np.float32(call.real("epsilon", 1e-5)))) * times / unit**2
    most = Fraction(times) * (1 << 2 * x.dtype.bits) + epsilon
    fraction = min(_MOST_FRACTION, (WIDE - int(most).bit_length()) // 2 * 2)
    root = isqrt(length << 40) / (1 << 20)
    factors = parameters[0].astype(np.float64) / float(step) * (1.0 if centred else root)
    addends = np.zeros(length) if parameters[1] is None else parameters[1].astype(np.float64) / float(step)
    root_bits = _UNIT_BITS - (length.bit_length() + 1) // 2 if centred else _UNIT_BITS
    factor_bits = _bits(factors)
    addend_bits = min(_bits(addends), _MOST_FACTOR)
    if fraction < 0 or epsilon < 0 or factor_bits < 0 or addend_bits < 0 or not np.isfinite(addends).all():
        return None
    factor_bits = min(factor_bits, _MOST_FACTOR, _MOST_SHIFT - root_bits)
    low, high = code_limits(call, y)
    return NormalisedForm(
        length, centred, source.zero_point[0], fraction, round(epsilon * (1 << fraction)), root_bits,
        np.rint(factors * 2.0**factor_bits).astype(np.int64), factor_bits,
        np.rint(addends * 2.0**addend_bits).astype(np.int64), 1 << root_bits + factor_bits - addend_bits,
        target.zero_point[0], low, high,
    )  # fmt: skip


def _bits(values: Array) -> int:
    """Bits of fraction with which these are integers of 31 bits; -1 where they are too large."""
    most = float(np.abs(values).max(initial=0))
    return _FACTOR_BITS - int(most).bit_length() if most < 1 << _FACTOR_BITS else -1


def _parameter(call: Call, index: int, over: tuple[int, ...]) -> Array | None:
    """A constant operand for every element of a row; None where it is no constant, or rows have several."""
    value = call.constants.get(index)
    tensor = call.optional(index)
    if value is None or tensor is None or tensor.quantisation is not None or value.dtype != np.float32:
        return None
    if prod(value.shape[: max(value.ndim - len(over), 0)]) != 1 or not np.isfinite(value).all():
        return None
    return np.broadcast_to(value.reshape(value.shape[max(value.ndim - len(over), 0) :]), over).reshape(-1)


def evaluate_normalised(_: Operator, call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    codes, form = arrays[0], normalised_form(call)
    assert codes is not None, "operand 0 is missing"
    rows = codes.astype(np.int64).reshape(-1, form.length)
    if form.centred:
        away = rows * form.length - rows.sum(1, keepdims=True)
        squares = form.length * (rows * rows).sum(1, keepdims=True) - rows.sum(1, keepdims=True) ** 2
    else:
        away = rows - form.centre
        squares = (away * away).sum(1, keepdims=True)
    flat = squares == 0
    root = np.where(flat, 1 << ROOT_BITS - 1, _root((squares << form.fraction_bits) + form.epsilon))
    left = ROOT_BITS - _bit_lengths(root)
    reciprocal = np.where(flat, 0, (1 << RECIPROCAL_BITS) // (root << left))
    shift = form.shift - left
    parts = away * reciprocal + (1 << shift - 1) >> shift
    wide = parts * form.factors + form.addends * form.addend_unit
    half, bits = 1 << form.result_bits - 1, form.result_bits
    rounded = wide + (half - 1) + (wide >> bits & 1) >> bits
    results: Array = np.clip(rounded + form.zero_point, form.low, form.high).astype(call.outputs[0].dtype.numpy)
    return results.reshape(codes.shape)


def _root(values: Integers) -> Integers:
    """The integer part of the root of numbers of 62 bits."""
    root = np.sqrt(values.astype(np.float64)).astype(np.int64)
    root = root - (root * root > values)
    return np.asarray(root + ((root + 1) * (root + 1) <= values), np.int64)


def _bit_lengths(values: Integers) -> Integers:
    """Bits of positive numbers below 2^53."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)
