"""Softmax on codes of at most eight bits, in integers.

    e[d] = round_half_even(2**30 * exp(-d * scale))           one table entry for every difference d = max - code
    code = zero_point + round_half_even(e * k / (sum(e) << f))    with k = round_half_even(2**f / output_scale)

`d * scale` is exact (ONNX Runtime rounds both operands of the difference to float32, which may move a result that lies
next to a tie). All of it fits into unsigned 64-bit integers; `f` is the largest that keeps it so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np

from tilewright.model import Array
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.requantize import Integers, divide_half_even

TABLE_BITS = 30
_MOST_FRACTION_BITS = 24


@dataclass(frozen=True)
class SoftmaxForm:
    """`exponentials[d]` for the difference d of codes, all at most 2**30; the quotient's factor and fraction bits."""

    exponentials: Integers
    factor: int
    fraction_bits: int
    zero_point: int
    low: int
    high: int


def softmax_axis(call: Call) -> int:
    """The axis that sums to one, counted from the front."""
    rank = len(call.shape())
    return call.integer("axis", -1 if call.opset >= 13 else 1) % rank


def softmax_form(call: Call) -> SoftmaxForm:
    """The constants of a quantised Softmax; UnsupportedNode for codes of more than eight bits."""
    x, y = call.tensor(0), call.outputs[0]
    if x.dtype.bits > 8:
        raise call.unsupported(
            f"a quantised Softmax of {x.dtype.bits}-bit codes needs a table of {1 << x.dtype.bits} exponentials",
            "quantise its input to 8 bits",
        )
    source, target = the_quantisation(x), the_quantisation(y)
    scale = float(np.float32(source.scale[0]))
    codes = 1 << x.dtype.bits
    table = [round(Fraction(exp(-d * scale)) * (1 << TABLE_BITS)) for d in range(codes)]
    inverse = 1 / Fraction(float(np.float32(target.scale[0])))
    # e * k < 2**63 and (sum << f) < 2**62, so that twice a remainder still fits.
    length = call.shape()[softmax_axis(call)]
    bits = min(_MOST_FRACTION_BITS, 31 - length.bit_length())
    while bits > 0 and round(inverse * (1 << bits)) >= 1 << 32:
        bits -= 1
    low, high = code_limits(call, y)
    factor = round(inverse * (1 << max(bits, 0)))
    if bits < 8 or factor >= 1 << 32:
        raise call.unsupported(
            f"a quantised Softmax over {length} elements and an output scale {target.scale[0]:g} are too fine",
            "keep it in float",
        )
    return SoftmaxForm(np.asarray(table, np.int64), factor, bits, target.zero_point[0], low, high)


def evaluate_softmax(_: Operator, call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    form, axis = softmax_form(call), softmax_axis(call)
    wide = codes.astype(np.int64)
    powers = form.exponentials[wide.max(axis=axis, keepdims=True) - wide]
    total = powers.sum(axis=axis, keepdims=True) << form.fraction_bits
    rounded = divide_half_even(powers * form.factor, total)
    results: Array = np.clip(rounded + form.zero_point, form.low, form.high).astype(call.outputs[0].dtype.numpy)
    return results
