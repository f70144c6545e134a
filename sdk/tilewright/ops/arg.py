"""ArgMax and ArgMin: the index of the first or last extreme along an axis."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operands import Arrays, given, one_axis, result
from tilewright.ops.operator import Call, Operator, TensorType


def arg_axis(call: Call) -> int:
    """The axis that is searched."""
    return one_axis(call, call.integer("axis", 0), len(call.shape()))


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, shape = arg_axis(call), call.shape()
    if shape[axis] == 0:
        raise call.invalid(f"axis {axis} of {shape} is empty")
    kept = (1,) if call.integer("keepdims", 1) else ()
    return (result(call, DType.I64, (*shape[:axis], *kept, *shape[axis + 1 :])),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), arg_axis(call)
    find = np.argmax if call.node.op == "ArgMax" else np.argmin
    if call.integer("select_last_index", 0):
        found = x.shape[axis] - 1 - find(np.flip(x, axis), axis)
    else:
        found = find(x, axis)
    return (np.asarray(found, np.int64).reshape(call.outputs[0].shape),)


OPERATORS = (Operator("ArgMax", _infer, _evaluate, ("x",)), Operator("ArgMin", _infer, _evaluate, ("x",)))
