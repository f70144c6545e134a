"""Split: every output is a copy of a range of the operand along one axis."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.facts import Range, along
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, listed, one_axis, result
from tilewright.ops.operator import Call, Operator, TensorType, always
from tilewright.ops.torch import Torch


def parts(call: Call) -> tuple[int, tuple[int, ...]]:
    """The axis and the size of each output along it; an uneven `num_outputs` leaves the last one smaller."""
    shape = call.shape()
    axis = one_axis(call, call.integer("axis", 0), len(shape))
    sizes, count = listed(call, 1, "split"), max(len(call.node.outputs), 1)
    if sizes is None:
        if (named := call.integer("num_outputs", count)) != count:
            raise call.invalid(f"num_outputs is {named}, it has {count} outputs")
        if "num_outputs" not in call.node.attributes and shape[axis] % count:
            raise call.invalid(f"axis {axis} of {shape} does not divide into {count} outputs")
        step = -(-shape[axis] // count)
        sizes = tuple(max(0, min(step, shape[axis] - step * index)) for index in range(count))
    if len(sizes) != count or sum(sizes) != shape[axis] or min(sizes, default=0) < 0:
        raise call.invalid(f"split {sizes} does not cover axis {axis} of {shape} with {count} outputs")
    return axis, sizes


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, sizes = parts(call)
    shape = call.shape()
    return tuple(result(call, call.tensor(0).dtype, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    axis, sizes = parts(call)
    return tuple(np.split(given(arrays, 0), np.cumsum(sizes)[:-1], axis))


def _nests(call: Call) -> tuple[Nest, ...]:
    (axis, sizes), kinds = parts(call), _infer(call)
    x, nests, offset = operand(call.tensor(0), "x"), [], 0
    for index, (size, kind) in enumerate(zip(sizes, kinds, strict=True)):
        space = Space.of(**axes("i", kind.shape))
        loops = list(space)
        source = [loop + offset if place == axis else loop for place, loop in enumerate(loops)]
        if 0 not in kind.shape:
            nests.append(Nest(space, Tensor(f"y{index}", kind.shape, kind.dtype)[*loops], (x[*source],)))
        offset += size
    return tuple(nests)


def _copies(call: Call) -> tuple[Range, ...]:
    (axis, sizes), rank = parts(call), len(call.shape())
    starts = list(accumulate(sizes, initial=0))
    return tuple(
        Range(0, place, along(axis, starts[index], rank), call.outputs[place].shape, inward=False)
        for place, index in enumerate(call.present)
    )


OPERATORS = (
    Operator(
        "Split",
        _infer,
        _evaluate,
        ("x", "split"),
        ("y...",),
        nests=_nests,
        codes=Moves(),
        torch=Torch(writer="split"),
        sketch="split",
        keeps=always,
        copies=_copies,
    ),
)
