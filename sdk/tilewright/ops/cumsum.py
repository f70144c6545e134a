"""CumSum and CumProd: running sums and products, in the type of the operand."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operands import Arrays, given, integer_scalar, one_axis, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType
from tilewright.ops.torch import Torch


def running_axis(call: Call) -> int:
    """The axis that is run along."""
    return one_axis(call, integer_scalar(call, 1, "the axis"), len(call.shape()))


def _infer(call: Call) -> tuple[TensorType, ...]:
    running_axis(call)
    if call.tensor(0).dtype is DType.BOOL:
        raise call.invalid("the operand is bool")
    return (same(call),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), running_axis(call)
    sums = call.node.op == "CumSum"
    if call.integer("reverse", 0):
        x = np.flip(x, axis)
    with np.errstate(over="ignore", invalid="ignore"):
        running: Array = np.cumsum(x, axis, dtype=x.dtype) if sums else np.cumprod(x, axis, dtype=x.dtype)
    if call.integer("exclusive", 0) and x.shape[axis]:
        shifted = np.roll(running, 1, axis)
        shifted.swapaxes(0, axis)[0] = 0 if sums else 1
        running = shifted
    return (np.flip(running, axis) if call.integer("reverse", 0) else running,)


OPERATORS = (
    Operator(
        "CumSum", _infer, _evaluate, ("x", "axis"), kind=Kind.OPAQUE, torch=Torch(writer="cumsum"), sketch="running"
    ),
    Operator("CumProd", _infer, _evaluate, ("x", "axis"), kind=Kind.OPAQUE, sketch="running"),
)
