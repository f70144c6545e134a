"""Other linear maps: sums and means over axes, resizing, transposed convolutions; and products of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as product_of

import numpy as np

from tilewright.evidence.error_bounds.sums import Linear, linear_step
from tilewright.evidence.error_bounds.value import SLACK, TINY, UNIT, Known, NoBound, Step, box, gamma
from tilewright.model import Array
from tilewright.ops.conv_transpose import conv_transpose_sum, spread
from tilewright.ops.index.fast import last_axes
from tilewright.ops.operator import Call
from tilewright.ops.reduce import reduced_axes
from tilewright.ops.resize import Taps, resizing


def reduced(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """ReduceSum and ReduceMean over constant axes."""
    axes, shape = reduced_axes(call), call.shape(0)
    count = int(np.prod([shape[axis] for axis in axes]))
    share = np.asarray(1.0 / count if call.node.op == "ReduceMean" else 1.0)
    narrow = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    result = call.outputs[0].shape

    def back(rows: Array) -> Sequence[Array | None]:
        return [np.broadcast_to(rows.reshape(-1, *narrow) * share, (rows.shape[0], *shape))]

    def ahead(rows: Array) -> Array:
        total: Array = rows.sum(axis=tuple(axis + 1 for axis in axes)).reshape(rows.shape[0], *result) * share
        return total

    map_ = Linear(lambda x, w: x.sum(axis=axes).reshape(result) * w, share, np.zeros(1), count, back, ahead, 2)
    return linear_step(map_, operands[0])


def resize(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Resize and Upsample by weights: axis by axis, each with constant places and weights."""
    resized = resizing(call)
    axes = [(axis, taps) for axis in range(len(call.shape(0))) if (taps := resized.taps(axis)) is not None]
    if any(taps.outside.any() for _, taps in axes):
        return NoBound("some of its results lie outside of the operand")
    weights = [taps.weights.astype(np.float64) for _, taps in axes]
    result, shape = call.outputs[0].shape, call.shape(0)

    def apply(x: Array, flat: Array) -> Array:
        at = 0
        for (axis, taps), own in zip(axes, weights, strict=True):
            x = _weighted(x, taps, flat[at : at + own.size].reshape(own.shape), axis)
            at += own.size
        return x.reshape(result)

    flat = np.concatenate([own.reshape(-1) for own in weights]) if weights else np.zeros(0)

    def ahead(rows: Array) -> Array:
        return np.stack([apply(row, flat) for row in rows])

    def back(rows: Array) -> Sequence[Array | None]:
        for (axis, taps), own in reversed(list(zip(axes, weights, strict=True))):
            rows = _spread(rows, taps, own, axis + 1, shape[axis])
        return [rows]

    products = sum(own.shape[1] for own in weights)
    return linear_step(Linear(apply, flat, np.zeros(1), products, back, ahead, len(axes)), operands[0])


def _weighted(x: Array, taps: Taps, weights: Array, axis: int) -> Array:
    total: Array = np.zeros(1)
    for positions, column in zip(taps.positions.T, weights.T, strict=True):
        total = total + x.take(positions, axis) * column.reshape(-1, *(1,) * (x.ndim - axis - 1))
    return total


def _spread(rows: Array, taps: Taps, weights: Array, axis: int, size: int) -> Array:
    """The adjoint of a weighted axis."""
    moved = np.moveaxis(rows, axis, 0)
    total = np.zeros((size, *moved.shape[1:]))
    for positions, column in zip(taps.positions.T, weights.T, strict=True):
        np.add.at(total, positions, moved * column.reshape(-1, *(1,) * (moved.ndim - 1)))
    return np.moveaxis(total, 0, axis)


def transposed(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """ConvTranspose with constant weights: each product is added where it falls."""
    if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
        return NoBound("its weights are computed at run time")
    weights, bias = call.constants[1].astype(np.float64), call.constants.get(2)
    start = np.zeros(1) if bias is None else bias.astype(np.float64).reshape(-1, *(1,) * (weights.ndim - 2))
    groups = call.integer("group", 1)
    products = weights.shape[0] // groups * int(np.prod(weights.shape[2:]))

    def ahead(rows: Array) -> Array:
        return np.stack([conv_transpose_sum(call, row, weights) for row in rows])

    def back(rows: Array) -> Sequence[Array | None]:
        return [_gathered(call, weights, groups, rows)]

    map_ = Linear(lambda x, w: conv_transpose_sum(call, x, w), weights, start, products, back, ahead)
    return linear_step(map_, operands[0])


def _gathered(call: Call, weights: Array, groups: int, rows: Array) -> Array:
    """The adjoint: what every element of the operand meets of the results."""
    geometry, shape = spread(call), call.shape(0)
    sizes = shape[2:]
    flat = rows.reshape(rows.shape[0] * shape[0], groups, -1, *geometry.outs)
    split = weights.reshape(groups, -1, *weights.shape[1:])
    total = np.zeros((flat.shape[0], groups, split.shape[1], int(np.prod(sizes))))
    numbers = (geometry.strides, geometry.kernel, geometry.dilations, geometry.begins, geometry.outs)
    axes = list(zip(sizes, *numbers, strict=True))
    wide = [(b, max(0, (i - 1) * s + (k - 1) * d + 1 - b - o)) for i, s, k, d, b, o in axes]
    source = np.pad(flat, [(0, 0)] * 3 + wide)
    for tap in product_of(*(range(k) for k in geometry.kernel)):
        where = (slice(t * d, t * d + (i - 1) * s + 1, s) for t, (i, s, _, d, _, _) in zip(tap, axes, strict=True))
        met = last_axes(source, *where).reshape(*flat.shape[:3], -1)
        total += last_axes(split, *tap) @ met
    return total.reshape(rows.shape[0], *shape)


def product(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """MatMul of two tensors that are computed at run time: linear around the middles."""
    a, b = operands
    if a.low.ndim < 2 or b.low.ndim < 2:
        return NoBound("one of its factors is a vector")
    terms = a.low.shape[-1]
    radius_a, radius_b = (a.high - a.low) / 2, (b.high - b.low) / 2
    middle_a, middle_b = np.abs(a.centre), np.abs(b.centre)
    centre = a.centre @ b.centre
    reach = middle_a @ radius_b + radius_a @ middle_b + radius_a @ radius_b
    total = a.magnitude @ b.magnitude
    low, high = box(centre - reach, centre + reach, total)
    rounding = gamma(terms) * total + terms * TINY
    spread = np.sqrt(terms + 1.0) * UNIT * (1 + gamma(terms)) * total + np.sqrt(terms) * TINY
    remainder = a.error @ b.error + radius_a @ b.error + a.error @ radius_b + SLACK * total
    right, left = np.swapaxes(b.centre, -1, -2), np.swapaxes(a.centre, -1, -2)

    def back(rows: Array) -> Sequence[Array | None]:
        return [_folded(rows @ right, a.low.shape), _folded(left @ rows, b.low.shape)]

    def ahead(rows: Sequence[Array]) -> Array:
        moved: Array = _level(rows[0], centre.ndim) @ b.centre + a.centre @ _level(rows[1], centre.ndim)
        return moved

    return Step(
        low, high, [a.error, b.error], lambda errors: errors[0] @ middle_b + middle_a @ errors[1], rounding, spread,
        remainder, ahead, back, f"gamma_{terms} * sum |a| |b| for {terms} products added in any order",
    )  # fmt: skip


def _level(rows: Array, rank: int) -> Array:
    return rows.reshape(rows.shape[0], *(1,) * (rank + 1 - rows.ndim), *rows.shape[1:])


def _folded(rows: Array, shape: tuple[int, ...]) -> Array:
    """Rows of a factor that was read by several matrices, summed over these."""
    extra = rows.ndim - 1 - len(shape)
    rows = rows.sum(axis=tuple(range(1, 1 + extra))) if extra else rows
    axes = tuple(axis + 1 for axis, size in enumerate(shape) if size == 1 and rows.shape[axis + 1] != 1)
    return rows.sum(axis=axes, keepdims=True) if axes else rows
