"""NonZero and Compress: elements that data selects.

Where what decides is known at compile time the result has its own length, else a bound and a count.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.bounded import bound, count_of, counted, known, padded
from tilewright.ops.facts import Lengths
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Nest, Subscript
from tilewright.ops.index.table import Table
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, one_axis, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def _nonzero(call: Call) -> tuple[TensorType, ...]:
    rank, most = max(len(call.shape()), 1), bound(call)
    if most is not None:
        return counted(call, result(call, DType.I64, (rank, most)))
    places = np.count_nonzero(known(call, 0))
    return (result(call, DType.I64, (rank, int(places))),)


def _nonzero_places(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, most = given(arrays, 0), bound(call)
    places = np.asarray(np.nonzero(x.reshape(1) if x.ndim == 0 else x), np.int64)
    if most is not None:
        return padded(places, most, 1), count_of(places.shape[1], most)
    return (places.reshape(call.outputs[0].shape),)


def _nonzero_lengths(call: Call) -> Lengths | None:
    return None if 0 in call.constants else Lengths(call.tensor(0).elements, (1,))


def compress_axis(call: Call) -> int | None:
    """The axis of a Compress; None where it selects among the elements of the flattened operand."""
    return one_axis(call, call.integer("axis"), len(call.shape())) if "axis" in call.node.attributes else None


def _selectable(call: Call) -> int:
    """Elements that a condition speaks of, which must not be more than there are."""
    shape, axis, condition = call.shape(), compress_axis(call), call.shape(1)
    size = call.tensor(0).elements if axis is None else shape[axis]
    if len(condition) != 1 or condition[0] > size:
        raise call.invalid(f"a condition of shape {condition} does not fit {size} elements")
    return condition[0]


def selected_places(call: Call) -> tuple[int | None, tuple[int, ...]]:
    """The axis of a Compress and the positions that stay, where the condition is known."""
    _selectable(call)
    return compress_axis(call), tuple(map(int, np.flatnonzero(known(call, 1))))


def _compress(call: Call) -> tuple[TensorType, ...]:
    shape, axis, most = call.shape(), compress_axis(call), bound(call)
    length = len(selected_places(call)[1]) if most is None else most
    sizes = (length,) if axis is None else (*shape[:axis], length, *shape[axis + 1 :])
    kind = result(call, call.tensor(0).dtype, sizes)
    return (kind,) if most is None else counted(call, kind)


def _compressed(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis, most = given(arrays, 0), compress_axis(call), bound(call)
    places = np.flatnonzero(given(arrays, 1))
    values = x.take(places, axis)
    return (values,) if most is None else (padded(values, most, axis or 0), count_of(len(places), most))


def _compress_lengths(call: Call) -> Lengths | None:
    return None if 1 in call.constants else Lengths(_selectable(call), (compress_axis(call) or 0,))


def _compress_nests(call: Call) -> tuple[Nest, ...]:
    if bound(call) is not None:
        return ()
    (kind,), (axis, places) = _compress(call), selected_places(call)
    if axis is None and len(call.shape()) != 1:
        return ()
    cut = axis or 0

    def subscripts(loops: list[Affine]) -> list[Subscript]:
        return [*loops[:cut], Table.over("place", loops[cut], places), *loops[cut + 1 :]]

    return moved(call, kind.shape, subscripts)


def _gap(call: Call) -> tuple[str, str]:
    return "it has no axis and its operand has several", "give it an axis, or put a Flatten before it"


OPERATORS = (
    Operator(
        "NonZero",
        _nonzero,
        _nonzero_places,
        ("x",),
        ("y", "count"),
        kind=Kind.OPAQUE,
        sketch="selected",
        lengths=_nonzero_lengths,
    ),
    Operator(
        "Compress",
        _compress,
        _compressed,
        ("x", "condition"),
        ("y", "count"),
        nests=_compress_nests,
        gap=_gap,
        sketch="selected",
        lengths=_compress_lengths,
    ),
)
