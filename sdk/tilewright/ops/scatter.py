"""Scatter, ScatterElements, ScatterND and TensorScatter: elements written at indices that data gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilewright.model import Array, DType, Node
from tilewright.ops.codes import Codes, Moves
from tilewright.ops.facts import Reads
from tilewright.ops.gather import element_positions, reads_axes, reads_axis
from tilewright.ops.operands import Arrays, checked_indices, given, maybe, needs_index, one_axis, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType

_REDUCTIONS: Mapping[str, np.ufunc | None] = {
    "none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip


def _reduction(call: Call) -> np.ufunc | None:
    name = call.text("reduction", "none")
    if name not in _REDUCTIONS:
        raise call.invalid(f"reduction '{name}' is none of {', '.join(_REDUCTIONS)}")
    return _REDUCTIONS[name]


def _alike(call: Call, index: int) -> None:
    data, updates = call.tensor(0), call.tensor(index)
    if data.dtype is not updates.dtype and data.quantisation is None:
        raise call.invalid(f"'{updates.name}' and '{data.name}' differ in type")


def _write(x: Array, places: tuple[Array, ...], updates: Array, reduction: np.ufunc | None) -> Array:
    written = x.copy()
    if reduction is None:
        written[places] = updates
    else:
        reduction.at(written, places, updates)
    return written


def _axis(call: Call) -> int:
    return one_axis(call, call.integer("axis", 0), len(call.shape()))


def _elements(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    _alike(call, 2)
    _reduction(call)
    shape, index_shape, axis = call.shape(), call.shape(1), _axis(call)
    if call.shape(2) != index_shape or len(index_shape) != len(shape):
        raise call.invalid(f"data {shape}, indices {index_shape} and updates {call.shape(2)} do not fit")
    if any(k > n for place, (k, n) in enumerate(zip(index_shape, shape, strict=True)) if place != axis):
        raise call.invalid(f"indices {index_shape} are larger than data {shape} along an axis other than {axis}")
    return (same(call),)


def _elements_scattered(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), _axis(call)
    indices = checked_indices(call, given(arrays, 1), x.shape[axis])
    return (_write(x, element_positions(indices, axis), given(arrays, 2), _reduction(call)),)


def _nd(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    _alike(call, 2)
    _reduction(call)
    shape, index_shape = call.shape(), call.shape(1)
    if not index_shape or not 1 <= index_shape[-1] <= len(shape):
        raise call.invalid(f"indices {index_shape} do not fit data of shape {shape}")
    if call.shape(2) != (*index_shape[:-1], *shape[index_shape[-1] :]):
        raise call.invalid(
            f"updates {call.shape(2)} should have the shape {(*index_shape[:-1], *shape[index_shape[-1] :])}"
        )
    return (same(call),)


def _nd_scattered(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, indices = given(arrays, 0), given(arrays, 1)
    places = tuple(checked_indices(call, indices[..., k], x.shape[k]) for k in range(indices.shape[-1]))
    return (_write(x, places, given(arrays, 2), _reduction(call)),)


def _cache(call: Call) -> tuple[TensorType, ...]:
    _alike(call, 1)
    shape, update = call.shape(), call.shape(1)
    axis = one_axis(call, call.integer("axis", -2), len(shape))
    if axis == 0:
        raise call.invalid("the axis of the sequence may not be the batch axis")
    if len(update) != len(shape) or any(
        k > n if place == axis else k != n for place, (k, n) in enumerate(zip(update, shape, strict=True))
    ):
        raise call.invalid(f"an update of shape {update} does not fit the cache {shape}")
    if (start := call.optional(2)) is not None and (start.shape != shape[:1] or start.dtype is not DType.I64):
        raise call.invalid("write_indices must hold one int64 per batch entry")
    if call.text("mode", "linear") not in ("linear", "circular"):
        raise call.invalid("mode must be linear or circular")
    return (same(call),)


def _cache_updated(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, update = given(arrays, 0).copy(), given(arrays, 1)
    axis = one_axis(call, call.integer("axis", -2), x.ndim)
    start = maybe(arrays, 2)
    starts = np.zeros(x.shape[0], np.int64) if start is None else start
    for batch, first in enumerate(starts.tolist()):
        places = np.arange(update.shape[axis]) + first
        if call.text("mode", "linear") == "circular":
            places %= x.shape[axis]
        checked_indices(call, places, x.shape[axis], 2)
        if first < 0:
            raise call.outside(2, f"write index {first} is negative")
        x[batch].swapaxes(0, axis - 1)[places] = update[batch].swapaxes(0, axis - 1)
    return (x,)


def _reads_cache(call: Call, operand: int) -> Reads | None:
    if operand != 2:
        return None
    axis = call.integer("axis", -2)
    new, rows = call.shape(1)[axis], call.shape()[axis]
    permitted = (0, rows - new) if call.text("mode", "linear") == "linear" else None
    return Reads(0, rows - new, f"writes {new} of {rows} elements", permitted)


def _moves(node: Node) -> Codes | None:
    """Elements are put in the place of others; what is added to them or compared is computed."""
    return Moves(data=(0, 2)) if node.attributes.get("reduction", "none") == "none" else None


_OPERANDS = ("x", "indices", "updates")
OPERATORS = (
    *(
        Operator(name, _elements, _elements_scattered, _OPERANDS, kind=Kind.OPAQUE, sketch="scatter", reads=reads_axis)
        for name in ("Scatter", "ScatterElements")
    ),
    Operator(
        "ScatterND", _nd, _nd_scattered, _OPERANDS, kind=Kind.OPAQUE, sketch="tuples", reads=reads_axes, codes=_moves
    ),
    Operator(
        "TensorScatter",
        _cache,
        _cache_updated,
        ("x", "update", "write_indices"),
        kind=Kind.OPAQUE,
        sketch="cache",
        reads=_reads_cache,
    ),
)
