"""Unique: every value, or every slice along an axis, once; not-a-number equals itself and is the largest."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.bounded import bound, count_of, known, padded
from tilewright.ops.facts import Lengths
from tilewright.ops.operands import Arrays, given, one_axis, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def unique_axis(call: Call) -> int | None:
    """The axis whose slices are compared; None where single elements are."""
    return one_axis(call, call.integer("axis"), len(call.shape())) if "axis" in call.node.attributes else None


def _slices(call: Call) -> int:
    """How many values or slices are compared."""
    axis = unique_axis(call)
    return call.tensor(0).elements if axis is None else call.shape()[axis]


def _infer(call: Call) -> tuple[TensorType, ...]:
    most, axis, shape = bound(call), unique_axis(call), call.shape()
    length = len(_uniques(call, known(call, 0))[1]) if most is None else most
    values = (length,) if axis is None else (*shape[:axis], length, *shape[axis + 1 :])
    lists = ((length,), (_slices(call),), (length,)) + ((1,),) * (most is not None)
    types = (result(call, call.tensor(0).dtype, values), *(result(call, DType.I64, each) for each in lists))
    if len(call.node.outputs) > len(types):
        raise call.invalid(f"it has {len(call.node.outputs)} outputs, the standard gives {len(types)}")
    return types[: len(call.node.outputs)]


def _uniques(call: Call, x: Array) -> tuple[Array, Array, Array, Array]:
    """The values, the first place of each, of every slice the place of its value, and how often each stands there."""
    axis = unique_axis(call)
    rows = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ordered = rows[order]
    same = (ordered[1:] == ordered[:-1]) | ((ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1]))
    starts = np.flatnonzero(np.concatenate(([True], ~same.all(1)))) if len(rows) else np.zeros(0, np.int64)
    first = order[starts]
    inverse = np.zeros(len(rows), np.int64)
    inverse[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    counts = np.bincount(inverse, minlength=len(first))
    if not call.integer("sorted", 1):
        by_place = first.argsort()
        first, counts = first[by_place], counts[by_place]
        inverse = by_place.argsort()[inverse]
    values = x.reshape(-1)[first] if axis is None else x.take(first, axis)
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    values, first, inverse, counts = _uniques(call, given(arrays, 0))
    most = bound(call)
    if most is None:
        return (values, first, inverse, counts)[: len(call.outputs)]
    cut = padded(values, most, unique_axis(call) or 0), padded(first, most), inverse, padded(counts, most)
    return (*cut, count_of(len(first), most))


def _lengths(call: Call) -> Lengths | None:
    if 0 in call.constants:
        return None
    return Lengths(_slices(call), (unique_axis(call) or 0, 0, None, 0))


OPERATORS = (
    Operator(
        "Unique",
        _infer,
        _evaluate,
        ("x",),
        ("y", "indices", "inverse_indices", "counts", "count"),
        kind=Kind.OPAQUE,
        sketch="selected",
        lengths=_lengths,
    ),
)
