"""Conv, ConvTranspose, Gemm and MatMul on codes: exact sums of products, one requantisation, no int32 overflow.

The sum that the semantics speaks of is `bias + sum((x - x_zero) * (w - w_zero))`. A kernel folds the input's zero
point into the number that it starts from (`Accumulator.start`), except where padding leaves taps out; both ways fit
into int32 at every step, or the node is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.codes import Products
from tilewright.ops.operator import Call, Operator, remembered
from tilewright.ops.quantised.proof import Bounds, Proof, prove
from tilewright.ops.quantised.real import code_limits, real_call, the_quantisation
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.requantize import (
    RESIDUE_BITS,
    Integers,
    Requantisation,
    divide_half_even,
    float32_multipliers,
    per_axis,
)

Arrays = Sequence[Array | None]

LARGEST_BIAS = 1 << 29
"""No bias of the run time is larger, so that sums keep their room."""


NARROW = "narrow_sums"
"""The attribute of a layer of 16-bit codes that adds up in 32 bits under TensorFlow Lite Micro's contract."""


@dataclass(frozen=True)
class Accumulator:
    """What a kernel needs beside its weights. All arrays hold one int64 per output channel.

    `bias` is the start of the sum over `x - x_zero`; `start` of the sum over plain codes, with `-x_zero * sum(w)`
    folded in, right wherever no tap is left out. `bounds` are the reachable sums.
    """

    bias: Integers
    start: Integers
    bounds: Bounds


def products(call: Call) -> Products:
    """What the operator of the call says of its sums of products."""
    assert isinstance(call.codes, Products), call.node.op
    return call.codes


def channel_axis(call: Call) -> int:
    """The axis of the result that counts output channels."""
    axis = products(call).result_axis
    return axis if axis >= 0 else len(call.outputs[0].shape) + axis


def centred(tensor: Tensor, codes: Array, dtype: DType = DType.I64) -> Array:
    """Codes minus their zero point, in `dtype`."""
    meaning = the_quantisation(tensor)
    zero = per_axis(meaning.zero_point, meaning.axis, codes.ndim, np.int64)
    return (codes.astype(np.int64) - zero).astype(dtype.numpy)


def channels(call: Call) -> int:
    """Number of output channels."""
    shape = call.outputs[0].shape
    return shape[channel_axis(call)] if shape else 1


def split_bias(call: Call) -> tuple[Integers, Integers | None]:
    """(whole accumulator units, residue in units of 2**-16 or None) per channel; zeros where there is no bias, or one
    of the run time."""
    tensor = call.optional(2)
    if tensor is None or (tensor.dtype is DType.I32 and 2 not in call.constants):
        return np.zeros(channels(call), np.int64), None
    value = call.constant(2, "the bias").astype(np.int64).reshape(-1)
    if tensor.dtype is not DType.I64:
        return value, None
    whole = divide_half_even(value, 1 << RESIDUE_BITS).astype(np.int64)
    return whole, value - (whole << RESIDUE_BITS)


def learns_bias(call: Call) -> bool:
    """True where the bias is one of the run time: a state within `bias_limit`."""
    return call.optional(2) is not None and 2 not in call.constants


@remembered
def bias_limit(call: Call) -> int:
    """The largest bias of the run time: with it the result is at an end of its range whatever the weights are."""
    multipliers = float32_multipliers(
        the_quantisation(call.tensor(0)).scale[0], the_quantisation(call.tensor(1)).scale,
        the_quantisation(call.outputs[0]).scale[0],
    )  # fmt: skip
    span = 4 << min(call.outputs[0].dtype.bits, 16)
    whole = _reach(call, _heaviest(call)) + ceil(span / min(multipliers))
    return min(whole, LARGEST_BIAS)


@remembered
def requantisation(call: Call) -> Requantisation:
    """From the sums of a Conv, ConvTranspose, Gemm or MatMul to the codes of its result, per channel."""
    x, w, y = (the_quantisation(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    if y.numerics == "tflm":
        return _rounded_twice(call, x, w, y)
    multipliers = float32_multipliers(x.scale[0], w.scale, y.scale[0])
    if len(multipliers) > 1 and channels(call) != len(multipliers):
        repeat = channels(call) // len(multipliers)
        multipliers = multipliers * repeat
    _, residue = split_bias(call)
    residues = () if residue is None else tuple(int(r) for r in residue)
    return Requantisation(multipliers, y.zero_point[0], *code_limits(call, call.outputs[0]), residues)


def _rounded_twice(call: Call, x: Quantisation, w: Quantisation, y: Quantisation) -> Requantisation:
    """As TensorFlow Lite Micro does: scales are float32 widened to float64, from left to right.

    Codes of 16 bits by weights of 8 add up in 64 bits there, which round once, unless the file says 32.
    """
    if split_bias(call)[1] is not None:
        raise call.unsupported("its bias counts no whole units of its sum", "use --numerics exact")
    wide = call.tensor(0).dtype is DType.I16 and call.tensor(1).dtype.bits <= 8 and NARROW not in call.node.attributes
    rule = Twice.of_wide if wide else Twice.of
    rules = tuple(rule(x.scale[0] * scale / y.scale[0]) for scale in w.scale)
    if len(rules) > 1 and channels(call) != len(rules):
        rules *= channels(call) // len(rules)
    return Requantisation.by(rules, y.zero_point[0], *code_limits(call, call.outputs[0]))


def by_channel(call: Call, weights: Array) -> Array:
    """Constant weights as [output channel, everything that one result sums over]; those of a stack side by side."""
    own_rows = products(call).by_channel(call.node, weights)
    return np.moveaxis(weights, -1, 0).reshape(weights.shape[-1], -1) if own_rows is None else own_rows


@remembered
def accumulator(call: Call) -> Accumulator:
    """Starts and bounds of the sums, from the actual weights where they are constant.

    UnsupportedNode where a sum could leave int32.
    """
    sums, largest = _sums(call)
    if largest >= 1 << 31:
        raise call.unsupported(
            f"its accumulator could reach {largest}, which 32 bits do not hold",
            "use int8 activations, or split the sum into two nodes",
        )
    return sums


def sums_fit(call: Call) -> bool:
    """Whether 32 bits hold every sum, and 64 its requantisation with the fractions of a real bias."""
    sums, largest = _sums(call)
    if largest >= 1 << 31:
        return False
    if the_quantisation(call.outputs[0]).numerics != "exact" or split_bias(call)[1] is None:
        return True
    proved = prove(requantisation(call), sums.bounds)
    return proved.fixed is not None or not proved.requantisation.leaves_64_bits(sums.bounds.largest)


def wraps(call: Call) -> bool:
    """Whether sums of codes of 16 bits by weights of 16 may leave 32 bits, and so wrap around in the layer's contract:
    SVDF under TensorFlow Lite Micro's. Not where a multiplier of one or more would shift what has wrapped around."""
    wide = call.tensor(0).dtype is call.tensor(1).dtype is DType.I16
    if not wide or the_quantisation(call.outputs[0]).numerics != "tflm" or _sums(call)[1] < 1 << 31:
        return False
    return all(isinstance(rule, Twice) and rule.shift <= 0 for rule in requantisation(call).rules)


def _sums(call: Call) -> tuple[Accumulator, int]:
    """Starts and bounds of the sums, and the largest number that one can be on its way or at its end."""
    if learns_bias(call):
        return _unknown_weights(call, np.zeros(channels(call), np.int64), _heaviest(call), bias_limit(call))
    x, fact = call.tensor(0), products(call)
    zero = the_quantisation(x).zero_point[0]
    low, high = x.dtype.range
    bias, _ = split_bias(call)
    if 1 in call.constants:
        codes = centred(call.tensor(1), call.constants[1])
        weights = fact.by_channel(call.node, codes)
        if weights is None:
            return _unknown_weights(call, bias, int(np.abs(codes).max(initial=0)))
        total = weights.sum(axis=1)
        extremes = weights * (low - zero), weights * (high - zero)
        lowest = bias + np.minimum(*extremes).sum(axis=1)
        highest = bias + np.maximum(*extremes).sum(axis=1)
        start = bias - zero * total
        widest = np.abs(weights).sum(axis=1) * max(abs(low), abs(high)) + np.maximum(np.abs(start), np.abs(bias))
        largest = max(each.max(initial=0) for each in (widest, np.abs(lowest), np.abs(highest)))
        return Accumulator(bias, start, Bounds(lowest, highest)), int(largest)
    return _unknown_weights(call, bias, _heaviest(call))


def _heaviest(call: Call) -> int:
    """The largest weight less its zero point that the type allows."""
    w = call.tensor(1)
    return max(abs(limit - zero) for limit in w.dtype.range for zero in the_quantisation(w).zero_point)


def _reach(call: Call, heaviest: int) -> int:
    """The largest sum of products with weights no larger than `heaviest`."""
    x = call.tensor(0)
    zero = the_quantisation(x).zero_point[0]
    depth = products(call).depth(call.node, call.shape(1))
    return max(abs(limit - zero) for limit in x.dtype.range) * heaviest * depth


def _unknown_weights(call: Call, bias: Integers, heaviest: int, more: int = 0) -> tuple[Accumulator, int]:
    """Bounds from the largest weight alone, for weights of the run time and stacks of matrices.

    `more` is the largest bias where that is one of the run time.
    """
    reach = _reach(call, heaviest) + more
    bound = np.full(channels(call), reach, np.int64)
    return Accumulator(bias, bias, Bounds(bias - bound, bias + bound)), reach + int(np.abs(bias).max(initial=0))


@remembered
def proof(call: Call) -> Proof:
    """The 32-bit form of the node's requantisation, proved over the reachable sums."""
    return prove(requantisation(call), accumulator(call).bounds)


def evaluate_linear(operator: Operator, call: Call, arrays: Arrays) -> Array:
    """Codes of the result. Sums are exact: float64 holds every integer that int32 does, and its products."""
    x, w = arrays[0], arrays[1]
    assert x is not None, "operand 0 is missing"
    assert w is not None, "operand 1 is missing"
    operands = centred(call.tensor(0), x, DType.F64), centred(call.tensor(1), w, DType.F64)
    sums = operator.evaluate(real_call(call, DType.F64, operands=2), operands)[0]
    given = arrays[2] if learns_bias(call) else None
    bias = split_bias(call)[0] if given is None else given.astype(np.int64)
    axis = channel_axis(call)
    shape = [1] * sums.ndim
    if sums.ndim:
        shape[axis] = bias.size
    acc = np.rint(sums).astype(np.int64) + bias.reshape(shape)
    if wraps(call):
        acc = acc.astype(np.int32).astype(np.int64)
    return requantisation(call).apply(acc, axis).astype(call.outputs[0].dtype.numpy)
