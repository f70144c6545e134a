"""Softmax as TensorFlow Lite Micro's reference kernels compute it, on signed codes of eight bits.

    e[d]  = exp(-d * scale) in Q0.31                             one table entry for every difference d = max - code
    total = sum of e[d] in Q12.19                                each rounded, ties away from zero
    share = 1 / total's fraction in [1, 2), in Q0.31              three steps of Newton
    code  = lowest + (high half of the doubled e[d] * share, over 2^exponent)                   both rounded

Differences whose exponential leaves the fixed point are not in the sum and give the lowest code.
Source: tensorflow/lite/kernels/internal/reference/softmax.h; gemmlowp/fixedpoint/fixedpoint.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, frexp

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operator import Call
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.quantised.softmax import softmax_axis
from tilewright.ops.quantised.softmax_lines import evaluate_softmax_lines, softmax_lines_unknown
from tilewright.ops.quantised.twice import Twice, exp_of_negative, reciprocal, rounded_over
from tilewright.ops.requantize import Integers

WHOLE_BITS = 5
"""Bits before the point of what an exponential is taken of."""
TOTAL_SHIFT = 12
"""Bits by which an exponential is shifted before it is added: a total has so many before its point."""
LONGEST = 1 << TOTAL_SHIFT
"""Elements of which the total leaves its fixed point."""
RESULTS = {DType.I8: (2.0**-8, -128), DType.I16: (2.0**-16, -32768)}
"""Scale and zero point that a result of each type has."""


@dataclass(frozen=True)
class SoftmaxTwiceForm:
    """`exponentials[d]` in Q0.31 for every difference d of codes, 0 where it is not computed.

    `exponent` less the total's leading zeros is by how much the product is shifted.
    """

    exponentials: Integers
    exponent: int
    low: int
    high: int


def softmax_twice_unknown(call: Call) -> str | None:
    """None for a Softmax of the forms that the kernels have, or why it is none."""
    x, y = call.tensor(0), call.outputs[0]
    meaning = the_quantisation(y)
    if x.dtype is DType.I16:
        return softmax_lines_unknown(call)
    if x.dtype is not DType.I8:
        return "its operand is neither int8 nor int16"
    scale, zero = RESULTS.get(y.dtype, (0.0, 0))
    close = abs(meaning.scale[0] - scale) <= (0.001 * scale if y.dtype is DType.I16 else 0.0)
    if not scale or not close or meaning.zero_point[0] != zero:
        return "its result is not in the one form that the kernels give"
    axis = softmax_axis(call)
    if any(size != 1 for size in call.shape()[axis + 1 :]):
        return "it is not over the last axis"
    return f"it is over {LONGEST} elements or more" if call.shape()[axis] >= LONGEST else None


def softmax_twice_form(call: Call) -> SoftmaxTwiceForm:
    """The constants of a Softmax; UnsupportedNode for what the kernels do not have."""
    if (why := softmax_twice_unknown(call)) is not None:
        raise call.unsupported(f"--numerics tflm: {why}", "use --numerics exact")
    y = call.outputs[0]
    scale = float(np.float32(the_quantisation(call.tensor(0)).scale[0]))
    fraction, shift = frexp(min(scale * (1 << (31 - WHOLE_BITS)), (1 << 31) - 1.0))
    scaled = Twice(min(floor(fraction * (1 << 31) + 0.5), (1 << 31) - 1), shift)
    radius = floor(((1 << WHOLE_BITS) - 1) * (1 << (31 - WHOLE_BITS)) / 2.0**shift)
    differences = np.arange(256)
    inside = differences <= radius
    powers = exp_of_negative(scaled.apply(-np.where(inside, differences, 0)), WHOLE_BITS)
    low, high = code_limits(call, y)
    return SoftmaxTwiceForm(np.where(inside, powers, 0), TOTAL_SHIFT + 31 - y.dtype.bits, low, high)


def evaluate_softmax_twice(call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    if call.tensor(0).dtype is DType.I16:
        return evaluate_softmax_lines(call, arrays)
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    form, axis = softmax_twice_form(call), softmax_axis(call)
    wide = codes.astype(np.int64)
    powers = form.exponentials[wide.max(axis=axis, keepdims=True) - wide]
    total = rounded_over(powers, TOTAL_SHIFT).sum(axis=axis, keepdims=True)
    zeros = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    share = reciprocal((total << zeros) - (1 << 31))
    rounded = rounded_over((powers * share + (1 << 30)) >> 31, form.exponent - zeros)
    results: Array = np.clip(rounded + call.outputs[0].dtype.range[0], form.low, form.high)
    return results.astype(call.outputs[0].dtype.numpy)
