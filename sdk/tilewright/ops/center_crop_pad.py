"""CenterCropPad: each axis cut or padded with zeros on both sides, the odd element at the end."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.index.body import finish
from tilewright.ops.index.nest import Nest
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, integer_list, result, some_axes, zero_code
from tilewright.ops.operator import Call, Operator, TensorType


def begins(call: Call) -> tuple[int, ...]:
    """For every axis where the operand's first element comes to lie; negative where elements are cut."""
    return tuple(_begin(new, old) for new, old in zip(_infer(call)[0].shape, call.shape(), strict=True))


def _begin(new: int, old: int) -> int:
    return (new - old) // 2 if new >= old else -((old - new) // 2)


def _infer(call: Call) -> tuple[TensorType, ...]:
    rank, sizes = len(call.shape()), integer_list(call, 1, "the shape")
    axes = some_axes(call, call.integers("axes", tuple(range(rank))), rank)
    if len(sizes) != len(axes):
        raise call.invalid(f"{len(sizes)} sizes are given for {len(axes)} axes")
    shape = list(call.shape())
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return (result(call, call.tensor(0).dtype, shape),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x = given(arrays, 0)
    canvas = np.full(call.outputs[0].shape, np.asarray(zero_code(call)).astype(x.dtype))
    source, target = [], []
    for old, new, begin in zip(x.shape, canvas.shape, begins(call), strict=True):
        size = min(old, new)
        source.append(slice(max(-begin, 0), max(-begin, 0) + size))
        target.append(slice(max(begin, 0), max(begin, 0) + size))
    canvas[tuple(target)] = x[tuple(source)]
    return (canvas,)


def _nests(call: Call) -> tuple[Nest, ...]:
    (kind,), starts = _infer(call), begins(call)
    zero = finish("pad_value", zero_code(call))
    return moved(call, kind.shape, lambda loops: [i - b for i, b in zip(loops, starts, strict=True)], zero)


OPERATORS = (Operator("CenterCropPad", _infer, _evaluate, ("x", "shape"), nests=_nests),)
