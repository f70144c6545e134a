"""ArgMax and ArgMin: the index of the first or last extreme along an axis."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import AsIntegers
from tilewright.ops.index.body import body, combine
from tilewright.ops.index.build import axes, indices, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, one_axis, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch


def arg_axis(call: Call) -> int:
    """The axis that is searched."""
    return one_axis(call, call.integer("axis", 0), len(call.shape()))


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, shape = arg_axis(call), call.shape()
    if call.tensor(0).dtype is DType.BOOL:
        raise call.invalid(f"operand '{call.tensor(0).name}' has type bool, it must be a number")
    if shape[axis] == 0:
        raise call.invalid(f"axis {axis} of {shape} is empty")
    ones = (1,) if call.integer("keepdims", 1) else ()
    return (result(call, DType.I64, (*shape[:axis], *ones, *shape[axis + 1 :])),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), arg_axis(call)
    find = np.argmax if call.node.op == "ArgMax" else np.argmin
    if call.integer("select_last_index", 0):
        places = x.shape[axis] - 1 - find(np.flip(x, axis), axis)
    else:
        places = find(x, axis)
    return (np.asarray(places, np.int64).reshape(call.outputs[0].shape),)


def _nests(call: Call) -> tuple[Nest, ...]:
    """The extreme of every row, then the first or last index that holds it."""
    axis, shape, largest = arg_axis(call), call.shape(), call.node.op == "ArgMax"
    if 0 in shape:
        return ()
    x, (kind,) = operand(call.tensor(0), "x"), _infer(call)
    space = Space.of(**axes("i", shape))
    loops = list(space)
    rest = [loop for place, loop in enumerate(loops) if place != axis]
    extreme = Tensor("extreme", tuple(n for place, n in enumerate(shape) if place != axis), x.dtype)
    places = (
        [0 if place == axis else loop for place, loop in enumerate(loops)] if len(kind.shape) == len(shape) else rest
    )
    last = bool(call.integer("select_last_index", 0))
    other = -1 if last else shape[axis]
    return (
        Nest(space, extreme[*rest], (x[*loops],), combine=combine("max" if largest else "min")),
        Nest(
            space,
            Tensor("y", kind.shape, kind.dtype)[*places],
            (x[*loops], extreme[*rest], indices("index", (shape[axis],))[loops[axis]]),
            body("select_equal", other),
            combine("max" if last else "min"),
        ),
    )


OPERATORS = (
    Operator(
        "ArgMax",
        _infer,
        _evaluate,
        ("x",),
        nests=_nests,
        codes=AsIntegers(),
        torch=Torch(writer="arg"),
        sketch="places",
    ),
    Operator(
        "ArgMin",
        _infer,
        _evaluate,
        ("x",),
        nests=_nests,
        codes=AsIntegers(),
        torch=Torch(writer="arg"),
        sketch="places",
    ),
)
