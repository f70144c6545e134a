"""LogShares: LogSoftmax as TensorFlow Lite Micro's reference kernel computes it, on signed codes of eight bits.

    total  = sum of exp(-d * scale) in Q12.19, of every difference d = max - code that does not leave the fixed point
    code   = 127 + (-d * scale in Q5.26 less the logarithm of the total, over 2^22, ties away from zero)

The logarithm is that of a power of two and a quotient of polynomials between the fourth root of a half and of two.
Source: tensorflow/lite/kernels/internal/reference/log_softmax.h; kernels/internal/common.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, frexp

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import AsIntegers
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.quantised.twice import Twice, doubled_high, exp_of_negative, reciprocal, rounded_over, shifted
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.requantize import Integers

OF = "LogSoftmax"
"""The operator on real numbers."""
WHOLE_BITS = 5
TOTAL_SHIFT = 12
RESULT_SHIFT = 31 - WHOLE_BITS - 4
LONGEST = 1 << TOTAL_SHIFT
RESULT = (1 / 16, 127)
"""Scale and zero point of every result."""
LEAST_SCALE = 2.0**-24
"""Of a smaller operand's scale the kernel has no inverse below one."""
_LOG_TWO, _ROOT, _HALF_ROOT = 1488522236, 1805811301, 1518500250
_ALPHAS = (117049297, 127690142, 1057819769, 638450708)
_QUARTER, _ACCUMULATED = 1 << 23, 6


@dataclass(frozen=True)
class LogSharesForm:
    """By the difference of codes: its exponential in Q0.31, 0 where it is not computed, and its logarithm in Q5.26."""

    exponentials: Integers
    logarithms: Integers
    radius: int
    inverse: Twice


def log_shares_form(scale: float) -> LogSharesForm:
    """The constants for an operand of this scale."""
    fraction, shift = frexp(min(float(np.float32(scale)) * (1 << (31 - WHOLE_BITS)), (1 << 31) - 1.0))
    multiplier = min(floor(fraction * (1 << 31) + 0.5), (1 << 31) - 1)
    scaled = Twice(multiplier, shift)
    radius = min(floor(((1 << WHOLE_BITS) - 1) * (1 << (31 - WHOLE_BITS)) / 2.0**shift), 255)
    differences = np.arange(256)
    logarithms = scaled.apply(-np.where(differences <= radius, differences, 0))
    powers = np.where(differences <= radius, exp_of_negative(logarithms, WHOLE_BITS), 0)
    return LogSharesForm(powers, logarithms, radius, Twice.of(2.0 ** (31 - shift) / multiplier))


def logarithm(totals: Integers) -> Integers:
    """The logarithm in Q5.26 of numbers from one on in Q12.19."""
    zeros = _leading_zeros(totals)
    first = shifted(doubled_high(totals << (zeros - 1), _HALF_ROOT), 1)
    power = ((TOTAL_SHIFT - zeros) << (31 - _ACCUMULATED)) + _QUARTER
    behind = _leading_zeros(doubled_high(totals, _HALF_ROOT)) - 1
    second = np.minimum(totals << behind, (1 << 31) - 1)
    power = np.maximum(power, ((TOTAL_SHIFT - behind) << (31 - _ACCUMULATED)) - _QUARTER)
    rest = np.minimum(first, second)
    total = rest + _ROOT
    middle, q = (total + 1) // 2, 2 * (rest - _ROOT)
    square = doubled_high(q, q)
    upper = doubled_high(q, rest) + doubled_high(doubled_high(q, square), _ALPHAS[0])
    lower = doubled_high(middle, _ALPHAS[2] + q + doubled_high(square, _ALPHAS[1])) + doubled_high(q, _ALPHAS[3])
    quotient = doubled_high(rounded_over(upper, _ACCUMULATED), reciprocal(lower))
    return shifted(doubled_high(power, _LOG_TWO) + quotient, 1)


def _leading_zeros(numbers: Integers) -> Integers:
    return np.asarray(32 - np.frexp(numbers.astype(np.float64))[1].astype(np.int64))


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (TensorType(call.tensor(0).dtype, call.shape()),)


def _evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    form = log_shares_form(the_quantisation(call.tensor(0)).scale[0])
    wide = codes.astype(np.int64)
    differences = wide.max(axis=-1, keepdims=True) - wide
    totals = rounded_over(form.exponentials[differences], TOTAL_SHIFT).sum(axis=-1, keepdims=True)
    logarithms = logarithm(totals)
    lowest = np.maximum(-form.radius - 1, form.inverse.apply(logarithms - (1 << 31)))
    steps = rounded_over(form.logarithms[differences] - logarithms, RESULT_SHIFT) + RESULT[1]
    results = np.where(-differences > lowest, steps, DType.I8.range[0])
    return (np.clip(results, *DType.I8.range).astype(np.int8),)


OPERATORS = (Operator("LogShares", _infer, _evaluate, ("x",), codes=AsIntegers(), domain=DOMAIN, sketch="micro_rows"),)
