"""TopK: the k largest or smallest along an axis; of equal values the one with the lower index comes first.

Where k is known at run time only, the results are padded up to a bound; a k below 0 takes none, one above it all.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.bounded import bound, count_of, padded
from tilewright.ops.facts import Lengths
from tilewright.ops.operands import Arrays, given, integer_scalar, one_axis, result, wanted
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def top_axis(call: Call) -> int:
    """The axis that is sorted."""
    return one_axis(call, call.integer("axis", -1), len(call.shape()))


def count(call: Call) -> int:
    """k, from the operand or, before opset 10, from the attribute; the most of it where it is known at run time."""
    most = bound(call)
    if most is not None:
        return most
    return integer_scalar(call, 1, "k") if call.optional(1) is not None else call.integer("k")


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, k, shape = top_axis(call), count(call), call.shape()
    if not 0 <= k <= shape[axis]:
        raise call.invalid(f"k = {k} does not fit axis {axis} of {shape}")
    result_shape = (*shape[:axis], k, *shape[axis + 1 :])
    types = (result(call, call.tensor(0).dtype, result_shape), result(call, DType.I64, result_shape))
    return wanted(call, *types, *[result(call, DType.I64, (1,))] * (bound(call) is not None))


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis, k, most = given(arrays, 0), top_axis(call), count(call), bound(call)
    if most is not None:
        k = min(max(int(given(arrays, 1).reshape(-1)[0]), 0), most)
    if call.integer("largest", 1):
        backwards = np.flip(x, axis)
        order = x.shape[axis] - 1 - np.flip(backwards.argsort(axis, kind="stable"), axis)
    else:
        order = x.argsort(axis, kind="stable")
    indices = order.take(np.arange(k), axis).astype(np.int64)
    values = np.take_along_axis(x, indices, axis)
    if most is not None:
        return padded(values, most, axis), padded(indices, most, axis), count_of(k, most)
    return (values, indices)[: len(call.outputs)]


def _lengths(call: Call) -> Lengths | None:
    if call.optional(1) is None or 1 in call.constants:
        return None
    axis = top_axis(call)
    return Lengths(call.shape()[axis], (axis, axis))


OPERATORS = (
    Operator(
        "TopK",
        _infer,
        _evaluate,
        ("x", "k"),
        ("values", "indices", "count"),
        kind=Kind.OPAQUE,
        sketch="top_k",
        lengths=_lengths,
    ),
)
