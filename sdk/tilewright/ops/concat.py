"""Concat: one copy per operand, each with its offset along the axis."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.facts import Range, along
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, one_axis, result
from tilewright.ops.operator import Call, Operator, TensorType, of_one
from tilewright.ops.torch import Torch


def concat_axis(call: Call) -> int:
    """The axis along which the operands follow one another."""
    return one_axis(call, call.integer("axis", 1 if call.opset < 4 else None), len(call.shape()))


def _infer(call: Call) -> tuple[TensorType, ...]:
    axis, first = concat_axis(call), call.tensor(0)
    size = 0
    for index in range(len(call.inputs)):
        tensor = call.tensor(index)
        if tensor.dtype is not first.dtype:
            raise call.invalid(f"'{tensor.name}' is {tensor.dtype.value}, '{first.name}' is {first.dtype.value}")
        rest = tensor.shape[:axis] + tensor.shape[axis + 1 :]
        if len(tensor.shape) != len(first.shape) or rest != first.shape[:axis] + first.shape[axis + 1 :]:
            raise call.invalid(f"'{tensor.name}' {tensor.shape} does not fit '{first.name}' {first.shape}")
        size += tensor.shape[axis]
    return (result(call, first.dtype, (*first.shape[:axis], size, *first.shape[axis + 1 :])),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.concatenate([given(arrays, index) for index in range(len(arrays))], concat_axis(call)),)


def _nests(call: Call) -> tuple[Nest, ...]:
    axis, (kind,) = concat_axis(call), _infer(call)
    y, nests, offset = Tensor("y", kind.shape, kind.dtype), [], 0
    for index in range(len(call.inputs)):
        source = operand(call.tensor(index), f"x{index}")
        space = Space.of(**axes("i", source.shape))
        loops = list(space)
        target = [loop + offset if place == axis else loop for place, loop in enumerate(loops)]
        if 0 not in source.shape:
            nests.append(Nest(space, y[*target], (source[*loops],)))
        offset += source.shape[axis]
    return tuple(nests)


def _copies(call: Call) -> tuple[Range, ...]:
    axis, at, boxes = concat_axis(call), 0, []
    for index in range(len(call.inputs)):
        shape = call.shape(index)
        boxes.append(Range(index, 0, along(axis, at, len(shape)), shape, inward=True))
        at += shape[axis]
    return tuple(boxes)


OPERATORS = (
    Operator(
        "Concat",
        _infer,
        _evaluate,
        ("x...",),
        nests=_nests,
        codes=Moves(data=None, whole=True),
        torch=Torch(writer="concat"),
        sketch="concat",
        keeps=of_one,
        copies=_copies,
    ),
)
