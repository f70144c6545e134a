"""Operators whose output shape depends on data: NonZero, Compress, Unique and NonMaxSuppression.

They are computed where what decides the shape is known at compile time, and refused otherwise.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Nest, Subscript
from tilewright.ops.index.table import Table
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, needs_rank, one_axis, result, wanted
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def _known(call: Call, index: int) -> Array:
    if index not in call.constants:
        raise call.unsupported(
            f"its output shape depends on the values of '{call.tensor(index).name}', which is computed at run time",
            "end the model before this node, or freeze that input with --freeze",
        )
    return call.constants[index]


def _nonzero(call: Call) -> tuple[TensorType, ...]:
    values = _known(call, 0)
    return (result(call, DType.I64, (values.ndim, int(np.count_nonzero(values)))),)


def _nonzero_places(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x = given(arrays, 0)
    places = np.nonzero(x.reshape(1) if x.ndim == 0 else x)
    return (np.asarray(places, np.int64).reshape(call.outputs[0].shape),)


def kept(call: Call) -> tuple[int | None, tuple[int, ...]]:
    """The axis of a Compress (None: over the flattened operand) and the positions that stay."""
    shape, condition = call.shape(), _known(call, 1)
    axis = one_axis(call, call.integer("axis"), len(shape)) if "axis" in call.node.attributes else None
    size = int(np.prod(shape)) if axis is None else shape[axis]
    if condition.ndim != 1 or condition.size > size:
        raise call.invalid(f"a condition of shape {condition.shape} does not fit {size} elements")
    return axis, tuple(int(place) for place in np.flatnonzero(condition))


def _compress(call: Call) -> tuple[TensorType, ...]:
    (axis, places), shape = kept(call), call.shape()
    result_shape = (len(places),) if axis is None else (*shape[:axis], len(places), *shape[axis + 1 :])
    return (result(call, call.tensor(0).dtype, result_shape),)


def _compressed(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    axis, places = kept(call)
    return (given(arrays, 0).take(np.asarray(places, np.int64), axis),)


def _unique(call: Call) -> tuple[TensorType, ...]:
    uniques = _uniques(call, _known(call, 0))
    types = (call.tensor(0).dtype, DType.I64, DType.I64, DType.I64)
    return wanted(call, *(result(call, dtype, array.shape) for dtype, array in zip(types, uniques, strict=True)))


def _uniques(call: Call, x: Array) -> tuple[Array, Array, Array, Array]:
    axis = one_axis(call, call.integer("axis"), x.ndim) if "axis" in call.node.attributes else None
    values, first, inverse, counts = np.unique(x, True, True, True, axis)
    inverse = inverse.reshape(-1)
    if not call.integer("sorted", 1):
        order = first.argsort()
        values, first, counts = values.take(order, 0 if axis is None else axis), first[order], counts[order]
        inverse = order.argsort()[inverse]
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


def _unique_arrays(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return _uniques(call, given(arrays, 0))[: len(call.outputs)]


def _suppression(call: Call) -> tuple[TensorType, ...]:
    boxes, scores = (needs_rank(call, index, 3, "NonMaxSuppression") for index in range(2))
    if boxes[0] != scores[0] or boxes[1] != scores[2] or boxes[2] != 4:
        raise call.invalid(f"boxes {boxes} and scores {scores} do not fit")
    arrays = [None if tensor is None else _known(call, index) for index, tensor in enumerate(call.inputs)]
    return (result(call, DType.I64, _selected(call, arrays).shape),)


def _limit(arrays: Arrays, index: int) -> float | None:
    value = arrays[index] if index < len(arrays) else None
    return None if value is None or value.size == 0 else float(value.reshape(-1)[0])


def _corners(call: Call, boxes: Array) -> Array:
    """Boxes as (low, low, high, high), whatever their corners' order."""
    if call.integer("center_point_box", 0):
        x, y, width, height = np.moveaxis(boxes, -1, 0)
        return np.stack((y - height / 2, x - width / 2, y + height / 2, x + width / 2), -1)
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    return np.concatenate((low, high), -1)


def _overlap(one: Array, others: Array) -> Array:
    """Intersection over union of one box with several."""
    sides = np.minimum(one[2:], others[:, 2:]) - np.maximum(one[:2], others[:, :2])
    shared = np.where((sides > 0).all(-1), sides.prod(-1), 0)
    area, areas = (one[2:] - one[:2]).prod(), (others[:, 2:] - others[:, :2]).prod(-1)
    union = area + areas - shared
    return np.where((area > 0) & (areas > 0) & (union > 0), shared / np.where(union > 0, union, 1), 0)


def _selected(call: Call, arrays: Arrays) -> Array:
    boxes, scores = _corners(call, given(arrays, 0)), given(arrays, 1)
    count, overlap, score = (_limit(arrays, index) for index in (2, 3, 4))
    found = []
    for batch, label in np.ndindex(scores.shape[0], scores.shape[1]):
        order = np.argsort(-scores[batch, label], kind="stable")
        order = order if score is None else order[scores[batch, label][order] > score]
        chosen: list[int] = []
        for box in order.tolist():
            if len(chosen) >= (count or 0):
                break
            if not (_overlap(boxes[batch, box], boxes[batch, chosen]) > (overlap or 0.0)).any():
                chosen.append(box)
        found += [(batch, label, box) for box in chosen]
    return np.asarray(found, np.int64).reshape(-1, 3)


def _suppressed(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (_selected(call, arrays),)


def _compress_nests(call: Call) -> tuple[Nest, ...]:
    (kind,), (axis, places) = _compress(call), kept(call)
    if axis is None and len(call.shape()) != 1:
        return ()
    cut = axis or 0

    def subscripts(loops: list[Affine]) -> list[Subscript]:
        return [*loops[:cut], Table.over("place", loops[cut], places), *loops[cut + 1 :]]

    return moved(call, kind.shape, subscripts)


_BOXES = ("boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold")


def _gap(call: Call) -> tuple[str, str]:
    return "it has no axis and its operand has several", "give it an axis, or put a Flatten before it"


OPERATORS = (
    Operator("NonZero", _nonzero, _nonzero_places, ("x",), kind=Kind.OPAQUE),
    Operator("Compress", _compress, _compressed, ("x", "condition"), nests=_compress_nests, gap=_gap),
    Operator(
        "Unique", _unique, _unique_arrays, ("x",), ("y", "indices", "inverse_indices", "counts"), kind=Kind.OPAQUE
    ),
    Operator("NonMaxSuppression", _suppression, _suppressed, _BOXES, kind=Kind.OPAQUE),
)
