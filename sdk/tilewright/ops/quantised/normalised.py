"""Normalisations on codes, in integers: of rows, of channels, of groups of channels.

    d = length * code - sum of codes            or d = code - zero point, whose mean is not taken away
    T = (v << f) + epsilon                      v = the sum of d * d, by length for a mean that is taken away
    z = high(d << room, inverse_root(T))        the shift lets the largest d that v allows fill 31 bits
    code = (high(z, factor) * 2^e + addend) >> bits

Sums are exact, so rows have one result in any order. `inverse_root` takes the upper 32 bits of T under an even shift
(`ops/fixed/whole.py`). `NormalisedForm.error` bounds what the root, upper halves and factors are off by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2, sqrt

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.model import Array
from tilewright.ops.codes import Normalises
from tilewright.ops.fixed.whole import high, inverse_root, mantissa, moved, wide_length
from tilewright.ops.norm_rows import NormRows, norm_rows, row_parameter
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.requantize import Integers

_WIDE, _NARROW = 62, 31
"""Bits of what is under the root, and of what is multiplied."""
_MOST_FRACTION, _MOST_BITS, _LEAST_BITS = 40, 20, 6
_NEAR, _HALVES = 2.0**-28, 2.0**-24
"""What an inverse root is off by, of itself, and two upper halves of the largest result."""


@dataclass(frozen=True)
class NormalisedForm:
    """The numbers of rows; `centre` is the zero point where no mean is taken away.

    Of a row whose v has b bits, d is shifted by 31 less half of b + `spread_bits`, rounded up. Sums under the root have
    `fraction_bits`, results `bits` of fraction behind a move by `exponent` less both shifts; `addends` hold the zero
    point and half a step.
    """

    rows: NormRows
    centred: bool
    centre: int
    spread_bits: int
    fraction_bits: int
    epsilon: int
    factors: Integers
    addends: Integers
    exponent: int
    bits: int
    low: int
    high: int
    reach: float

    @property
    def error(self) -> float:
        """Of a step: how far a result within the limits may lie from that of exact arithmetic before it is rounded."""
        least = ((max(self.rows.length - 1, 1) if self.centred else 1) << self.fraction_bits) + self.epsilon
        return self.reach * (2 * _NEAR + 0.25 / least + _HALVES) + 2.0 ** (2 - self.bits)


def normalised_form(call: Call) -> NormalisedForm:
    """The numbers of a normalisation; UnsupportedNode for one that integers do not hold."""
    form = _form(call)
    if form is None:
        raise call.unsupported("its codes cannot be normalised in integers", "keep it in float")
    return form


def has_normalised_form(call: Call) -> bool:
    """True for a normalisation of codes that integers hold."""
    try:
        return _form(call) is not None
    except TilewrightError:  # an axis that is none, which the operator tells itself
        return False


def _form(call: Call) -> NormalisedForm | None:
    x, y, rows = call.tensor(0), call.outputs[0], norm_rows(call)
    if rows is None or call.integer("stash_type", 1) != 1 or x.dtype.bits > 16:
        return None
    scale, bias = (row_parameter(call, index, rows) for index in (1, 2))
    if scale is None or (call.optional(2) is not None and bias is None):
        return None
    length, centred = rows.length, isinstance(call.codes, Normalises) and call.codes.centred
    if length.bit_length() + x.dtype.bits > _NARROW:
        return None
    source, target = map(the_quantisation, (x, y))
    step, unit = (Fraction(float(np.float32(one.scale[0]))) for one in (target, source))
    times = length**2 if centred else length
    epsilon = Fraction(float(np.float32(call.real("epsilon", 1e-5)))) * times / unit**2
    most = Fraction(times) * (1 << 2 * x.dtype.bits) + epsilon
    fraction = min(_MOST_FRACTION, (_WIDE - int(most).bit_length()) // 2 * 2)
    factors = scale / float(step) * (1.0 if centred else sqrt(length))
    addends = (np.zeros_like(factors) if bias is None else bias / float(step)) + target.zero_point[0] + 0.5
    size = float(np.abs(factors).max()) * (sqrt(length) if centred else 1.0)
    reach = size + float(np.abs(addends).max())
    bits = min(_MOST_BITS, _NARROW - 1 - ceil(log2(max(reach, 1.0))))
    if fraction < 0 or epsilon < 0 or bits < _LEAST_BITS:
        return None
    exponent = mantissa(float(np.abs(factors).max()))[1] if factors.any() else 0
    low, highest = code_limits(call, y)
    return NormalisedForm(
        rows, centred, source.zero_point[0], (length - 1).bit_length() if centred else 0, fraction,
        round(epsilon * (1 << fraction)), np.rint(factors * 2.0**-exponent).clip(1 - 2**31, 2**31 - 1).astype(np.int64),
        np.rint(addends * 2.0**bits).astype(np.int64), 19 + exponent + fraction // 2 + bits, bits, low, highest, reach,
    )  # fmt: skip


def evaluate_normalised(_: Operator, call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    codes, form = arrays[0], normalised_form(call)
    assert codes is not None, "operand 0 is missing"
    length = form.rows.length
    rows = codes.astype(np.int64).reshape(-1, length)
    if form.centred:
        away = rows * length - rows.sum(1, keepdims=True)
        squares = length * (rows * rows).sum(1, keepdims=True) - rows.sum(1, keepdims=True) ** 2
    else:
        away = rows - form.centre
        squares = (away * away).sum(1, keepdims=True)
    total = np.maximum((squares << form.fraction_bits) + form.epsilon, 1)
    room = np.maximum(_NARROW - (wide_length(squares) + form.spread_bits + 1 >> 1), 0)
    even = wide_length(total) - _NARROW >> 1 << 1
    factors, addends = (
        np.tile(form.rows.spread(one), (len(rows) // form.rows.sets, 1)) for one in (form.factors, form.addends)
    )
    parts = high(high(away << room, inverse_root(moved(total, -even))), factors)
    results = moved(parts, form.exponent - room - (even >> 1)) + addends >> form.bits
    limited: Array = np.clip(results, form.low, form.high).astype(call.outputs[0].dtype.numpy)
    return limited.reshape(codes.shape)
