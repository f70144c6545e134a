"""TopK: the k largest or smallest along an axis; of equal values the one with the lower index comes first."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operands import Arrays, given, integer_scalar, one_axis, result, wanted
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def top_axis(call: Call) -> int:
    """The axis that is sorted."""
    return one_axis(call, call.integer("axis", -1), len(call.shape()))


def count(call: Call) -> int:
    """k, from the operand or, before opset 10, from the attribute."""
    return integer_scalar(call, 1, "k") if call.optional(1) is not None else call.integer("k")


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, k, shape = top_axis(call), count(call), call.shape()
    if not 0 <= k <= shape[axis]:
        raise call.invalid(f"k = {k} does not fit axis {axis} of {shape}")
    result_shape = (*shape[:axis], k, *shape[axis + 1 :])
    return wanted(call, result(call, call.tensor(0).dtype, result_shape), result(call, DType.I64, result_shape))


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis, k = given(arrays, 0), top_axis(call), count(call)
    if call.integer("largest", 1):
        backwards = np.flip(x, axis)
        order = x.shape[axis] - 1 - np.flip(backwards.argsort(axis, kind="stable"), axis)
    else:
        order = x.argsort(axis, kind="stable")
    indices = order.take(np.arange(k), axis)
    values = np.take_along_axis(x, indices, axis)
    return (values, indices.astype(np.int64))[: len(call.outputs)]


OPERATORS = (Operator("TopK", _infer, _evaluate, ("x", "k"), ("values", "indices"), kind=Kind.OPAQUE, sketch="top_k"),)
