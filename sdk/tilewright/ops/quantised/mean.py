"""AveragePool, GlobalAveragePool, ReduceMean and ReduceSum on codes: exact sums, one requantisation.

`code = clamp(zero_point + round_half_even(sum(x - x_zero) * m / count), low, high)` with `m` the float32 value of
input scale / output scale. The division by the count is exact too: 6 of 12 is a half, as the real mean is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import Mean
from tilewright.ops.operator import Call, Operator
from tilewright.ops.pool import average_pool_sum
from tilewright.ops.quantised.linear import centred
from tilewright.ops.quantised.proof import Bounds, Proof, prove
from tilewright.ops.quantised.real import code_limits, real_call, the_quantisation
from tilewright.ops.quantised.twice import RawMean, mean_multiplier
from tilewright.ops.requantize import Integers, Requantisation, float32_multipliers


def fact(call: Call) -> Mean:
    """What the operator of the call says of its sums."""
    assert isinstance(call.codes, Mean), call.node.op
    return call.codes


def mean_requantisation(call: Call, count: int) -> Requantisation:
    """From the sum of `count` centred codes to the code of their mean (of their sum for ReduceSum); none have the zero
    point.
    """
    count = max(count, 1)
    x, y = the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0])
    if y.numerics == "tflm":
        limits = code_limits(call, call.outputs[0])
        if not fact(call).windows:
            rule = mean_multiplier(x.scale[0], y.scale[0], count if fact(call).divides else 1)
            return Requantisation.by((rule,), y.zero_point[0], *limits)
        return Requantisation.by((RawMean(count, x.zero_point[0]),), y.zero_point[0], *limits)
    (ratio,) = float32_multipliers(x.scale[0], (1.0,), y.scale[0])
    divisor = count if fact(call).divides else 1
    return Requantisation((ratio / Fraction(divisor),), y.zero_point[0], *code_limits(call, call.outputs[0]))


def mean_proof(call: Call, count: int) -> Proof:
    """The 32-bit form for sums of `count` codes, proved over all of them."""
    x = call.tensor(0)
    zero = the_quantisation(x).zero_point[0]
    low, high = x.dtype.range
    if count * max(abs(low - zero), abs(high - zero)) >= 1 << 31:
        raise call.unsupported(f"a sum of {count} codes could leave 32 bits", "reduce fewer elements at once")
    bounds = Bounds(np.asarray([count * (low - zero)], np.int64), np.asarray([count * (high - zero)], np.int64))
    return prove(mean_requantisation(call, count), bounds)


def window_counts(call: Call) -> Integers:
    """The different numbers of elements that one result is the mean of, ascending; one unless windows are padded."""
    if fact(call).windows:
        ones = np.ones((1, 1, *call.shape()[2:]))
        _, counts = average_pool_sum(real_call(call, DType.F64, operands=1), ones)
        return np.unique(np.rint(counts).astype(np.int64))
    return np.asarray([call.tensor(0).elements // max(call.outputs[0].elements, 1)], np.int64)


def evaluate_mean(operator: Operator, call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    reals = centred(call.tensor(0), codes, DType.F64)
    if fact(call).windows:
        sums, counts = average_pool_sum(real_call(call, DType.F64, operands=1), reals)
    else:
        plain = real_call(call, DType.F64, call.constants)
        plain = replace(plain, node=replace(plain.node, op="ReduceSum"))
        sums = operator.evaluate(plain, (reals, *arrays[1:]))[0]
        counts = np.asarray(reals.size // max(prod(sums.shape), 1))
    acc = np.rint(sums).astype(np.int64)
    wide = np.broadcast_to(np.rint(counts).astype(np.int64), acc.shape)
    result = np.zeros(acc.shape, np.int64)
    for count in np.unique(wide):
        chosen = wide == count
        result[chosen] = mean_requantisation(call, int(count)).apply(acc[chosen])
    return result.astype(call.outputs[0].dtype.numpy)
