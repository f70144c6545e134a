"""OneHot: the on value where the index names the place, the off value elsewhere; indices out of range match nothing."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.facts import Reads
from tilewright.ops.index.body import body, combine
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, one_axis, result
from tilewright.ops.operator import Call, Operator, TensorType


def depth(call: Call) -> int:
    """The number of classes."""
    value = call.constant(1, "the depth").reshape(-1)
    if value.size != 1 or int(value[0]) < 0:
        raise call.invalid("the depth must be one number of at least 0")
    return int(value[0])


def hot_axis(call: Call) -> int:
    """The axis of the result that counts classes."""
    return one_axis(call, call.integer("axis", -1), len(call.shape()) + 1)


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, shape = hot_axis(call), call.shape()
    if call.shape(2) != (2,):
        raise call.invalid(f"values must hold off and on, not {call.shape(2)}")
    return (result(call, call.tensor(2).dtype, (*shape[:axis], depth(call), *shape[axis:])),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    axis, count, values = hot_axis(call), depth(call), given(arrays, 2)
    indices = np.trunc(given(arrays, 0)).astype(np.int64)
    indices = np.expand_dims(np.where(indices < 0, indices + count, indices), axis)
    classes = np.arange(count).reshape(-1, *(1,) * (indices.ndim - axis - 1))
    return (np.where(indices == classes, values[1], values[0]),)


def _nests(call: Call) -> tuple[Nest, ...]:
    """Where the index is the class, or the class less the depth; then the on value or the off value."""
    (kind,), axis, count = _infer(call), hot_axis(call), depth(call)
    if 0 in kind.shape or not call.tensor(0).dtype.is_signed:
        return ()
    space = Space.of(**axes("i", kind.shape), sign=2)
    *loops, sign = space
    indices, values = operand(call.tensor(0), "indices"), operand(call.tensor(2), "values")
    names = Tensor("names", (2, count), indices.dtype, tuple(c - s * count for s in range(2) for c in range(count)))
    hit, rest = Tensor("hit", kind.shape, DType.BOOL), [*loops[:axis], *loops[axis + 1 :]]
    operands = (indices[*rest], names[sign, loops[axis]])
    outer = Space.of(**axes("i", kind.shape))
    return (
        Nest(space, hit[*loops], operands, body("equal"), combine("or")),
        Nest(outer, Tensor("y", kind.shape, kind.dtype)[*loops], (hit[*loops], values[1], values[0]), body("where")),
    )


def _gap(call: Call) -> tuple[str, str]:
    return f"its indices are {call.tensor(0).dtype.value}, they must have a sign", "put a Cast to i32 before it"


def _reads(call: Call, operand: int) -> Reads | None:
    classes = max(1, depth(call))
    return Reads(0, classes - 1, f"has {classes} classes", None) if operand == 0 else None


OPERATORS = (
    Operator("OneHot", _infer, _evaluate, ("indices", "depth", "values"), nests=_nests, gap=_gap, reads=_reads),
)
