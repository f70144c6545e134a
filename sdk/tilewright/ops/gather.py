"""Gather, GatherElements and GatherND: elements read at indices that data gives."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.facts import Range, Reads, along, indices
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Nest, Subscript
from tilewright.ops.index.table import Table
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, checked_indices, given, needs_index, one_axis, result
from tilewright.ops.operator import Adjoint, Call, Kind, Operator, TensorType
from tilewright.ops.torch import Torch


def gather_axis(call: Call) -> int:
    """The axis that the indices count along."""
    return one_axis(call, call.integer("axis", 0), len(call.shape()))


def _gather(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    axis, shape = gather_axis(call), call.shape()
    _known_indices(call, shape[axis])
    return (result(call, call.tensor(0).dtype, (*shape[:axis], *call.shape(1), *shape[axis + 1 :])),)


def _known_indices(call: Call, size: int) -> None:
    if 1 in call.constants:
        checked_indices(call, call.constants[1], size)


def _gathered(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), gather_axis(call)
    return (x.take(checked_indices(call, given(arrays, 1), x.shape[axis]), axis),)


def _elements(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    axis, shape, index_shape = gather_axis(call), call.shape(), call.shape(1)
    if len(index_shape) != len(shape):
        raise call.invalid(f"indices {index_shape} and data {shape} differ in rank")
    if any(k > n for place, (k, n) in enumerate(zip(index_shape, shape, strict=True)) if place != axis):
        raise call.invalid(f"indices {index_shape} are larger than data {shape} along an axis other than {axis}")
    _known_indices(call, shape[axis])
    return (result(call, call.tensor(0).dtype, index_shape),)


def element_positions(indices: Array, axis: int) -> tuple[Array, ...]:
    """For every element of `indices` its own place, with the index along `axis`: what `x[...]` takes."""
    places: list[Array] = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[axis] = indices
    return tuple(places)


def _elements_gathered(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axis = given(arrays, 0), gather_axis(call)
    return (x[element_positions(checked_indices(call, given(arrays, 1), x.shape[axis]), axis)],)


def _depth(call: Call) -> tuple[int, int]:
    """The number of batch axes and of indexed axes of a GatherND."""
    shape, index_shape, batch = call.shape(), call.shape(1), call.integer("batch_dims", 0)
    if not index_shape or not shape:
        raise call.invalid("data and indices need at least one axis")
    if not 0 <= batch < min(len(shape), len(index_shape)):
        raise call.invalid(f"batch_dims {batch} does not fit data {shape} and indices {index_shape}")
    if shape[:batch] != index_shape[:batch]:
        raise call.invalid(f"the first {batch} axes of data {shape} and indices {index_shape} differ")
    if not 1 <= index_shape[-1] <= len(shape) - batch:
        raise call.invalid(f"indices of {index_shape[-1]} places do not fit data of shape {shape}")
    return batch, index_shape[-1]


def _nd(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    batch, depth = _depth(call)
    return (result(call, call.tensor(0).dtype, (*call.shape(1)[:-1], *call.shape()[batch + depth :])),)


def _nd_gathered(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, indices = given(arrays, 0), given(arrays, 1)
    batch, depth = _depth(call)
    rank = indices.ndim - 1
    places: list[Array] = [
        np.arange(indices.shape[axis]).reshape(-1, *(1,) * (rank - axis - 1)) for axis in range(batch)
    ]
    places += [checked_indices(call, indices[..., k], x.shape[batch + k]) for k in range(depth)]
    return (x[tuple(places)],)


def _gather_nests(call: Call) -> tuple[Nest, ...]:
    """Constant indices along one axis are a table; indices of the run time have no index map."""
    (kind,), axis, shape = _gather(call), gather_axis(call), call.shape()
    index_shape = call.shape(1)
    if 1 not in call.constants or sum(size != 1 for size in index_shape) > 1:
        return ()
    values = tuple(checked_indices(call, call.constants[1], shape[axis]).reshape(-1).tolist())
    moving = next((place for place, size in enumerate(index_shape) if size != 1), None)

    def subscripts(loops: list[Affine]) -> list[Subscript | int]:
        inside: Subscript | int = values[0]
        if moving is not None:
            inside = Table.over("index", loops[axis + moving], values)
        return [*loops[:axis], inside, *loops[axis + len(index_shape) :]]

    return moved(call, kind.shape, subscripts)


def _copies(call: Call) -> tuple[Range, ...]:
    """Indices that follow one another take one box."""
    axis, shape = gather_axis(call), call.shape()
    positions = [int(index) % shape[axis] for index in call.constant(1, "indices").reshape(-1)]
    if not positions or positions != list(range(positions[0], positions[0] + len(positions))):
        return ()
    box = (*shape[:axis], len(positions), *shape[axis + 1 :])
    return (Range(0, 0, along(axis, positions[0], len(shape)), box, inward=False),)


def reads_axis(call: Call, operand: int) -> Reads | None:
    """Operand 1 holds indices along the attribute's axis."""
    if operand != 1:
        return None
    axis = call.integer("axis", 0) % len(call.shape())
    size = call.shape()[axis]
    return indices(size, f"indices of axis {axis}, which has {size} elements")


def reads_axes(call: Call, operand: int) -> Reads | None:
    """Operand 1 holds an index for each of several axes, behind those that both operands share."""
    if operand != 1:
        return None
    batch = call.integer("batch_dims", 0)
    size = min(call.shape()[batch : batch + call.shape(1)[-1]])
    return indices(size, f"indices of axes of which the smallest has {size} elements")


def _gather_gradient(a: Adjoint, index: int) -> str:
    """The slices of the gradient are added where they were taken; of an embedding these are its rows."""
    if index:
        return ""
    axis, shape, count = gather_axis(a.call), a.shape(0), prod(a.shape(1))
    zeros = a.expand(a.number([0]), shape)
    if axis == 0:
        rows, dy = a.reshape(a.x(1), (count, 1)), a.reshape(a.dy, (count, *shape[1:]))
        return a.op("ScatterND", zeros, rows, dy, reduction="add")
    before, behind = shape[:axis], shape[axis + 1 :]
    places = a.reshape(a.x(1), (*(1,) * axis, count, *(1,) * len(behind)))
    full = (*before, count, *behind)
    return a.op("ScatterElements", zeros, a.expand(places, full), a.reshape(a.dy, full), axis=axis, reduction="add")


def _elements_gradient(a: Adjoint, index: int) -> str:
    if index:
        return ""
    zeros = a.expand(a.number([0]), a.shape(0))
    return a.op("ScatterElements", zeros, a.x(1), a.dy, axis=gather_axis(a.call), reduction="add")


def _nd_gradient(a: Adjoint, index: int) -> str:
    if index or a.call.integer("batch_dims", 0):
        return ""
    return a.op("ScatterND", a.expand(a.number([0]), a.shape(0)), a.x(1), a.dy, reduction="add")


OPERATORS = (
    Operator(
        "Gather",
        _gather,
        _gathered,
        ("x", "indices"),
        nests=_gather_nests,
        codes=Moves(),
        torch=Torch(writer="gather"),
        sketch="gather",
        copies=_copies,
        reads=reads_axis,
        gradient=_gather_gradient,
    ),
    Operator(
        "GatherElements",
        _elements,
        _elements_gathered,
        ("x", "indices"),
        kind=Kind.OPAQUE,
        codes=Moves(),
        torch=Torch(writer="gather_elements"),
        sketch="gather",
        reads=reads_axis,
        gradient=_elements_gradient,
    ),
    Operator(
        "GatherND",
        _nd,
        _nd_gathered,
        ("x", "indices"),
        kind=Kind.OPAQUE,
        codes=Moves(),
        sketch="tuples",
        reads=reads_axes,
        gradient=_nd_gradient,
    ),
)
