"""NonMaxSuppression: of boxes that overlap the one with the best score, for every class of every image.

Of equal scores the box with the lower index comes first; a score that is not a number comes last.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.bounded import bound, count_of, counted, known, padded
from tilewright.ops.facts import Lengths
from tilewright.ops.operands import Arrays, given, needs_rank, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType

COUNT, OVERLAP, SCORE = 2, 3, 4
"""The operands that limit what is selected: boxes of a class, the share that two may have in common, the score."""


def _infer(call: Call) -> tuple[TensorType, ...]:
    boxes, scores = (needs_rank(call, index, 3, "NonMaxSuppression") for index in range(2))
    if boxes[0] != scores[0] or boxes[1] != scores[2] or boxes[2] != 4:
        raise call.invalid(f"boxes {boxes} and scores {scores} do not fit")
    for index in (COUNT, OVERLAP, SCORE):
        limit = call.optional(index)
        if limit is not None and limit.elements > 1:
            raise call.invalid(f"'{limit.name}' must be one number, not {list(limit.shape)}")
    most = bound(call)
    if most is not None:
        return counted(call, result(call, DType.I64, (most, 3)))
    arrays = [None if tensor is None else known(call, i) for i, tensor in enumerate(call.inputs)]
    return (result(call, DType.I64, _selected(call, arrays).shape),)


def limits(call: Call) -> tuple[bool, bool, bool]:
    """Whether there is a limit of boxes, of overlap and of scores; an operand without elements is none."""

    def is_given(index: int) -> bool:
        operand = call.optional(index)
        return operand is not None and operand.elements > 0

    return is_given(COUNT), is_given(OVERLAP), is_given(SCORE)


def _limit(arrays: Arrays, index: int) -> Array | None:
    value = arrays[index] if index < len(arrays) else None
    return None if value is None or value.size == 0 else value.reshape(-1)[0]


def _corners(call: Call, boxes: Array) -> Array:
    """Boxes as (low, low, high, high), whatever their corners' order."""
    if call.integer("center_point_box", 0):
        x, y, width, height = np.moveaxis(boxes, -1, 0)
        return np.stack((y - height / 2, x - width / 2, y + height / 2, x + width / 2), -1)
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    return np.concatenate((low, high), -1)


def _overlap(one: Array, others: Array) -> Array:
    """Intersection over union of one box with several; 0 where a box has no area."""
    sides = np.minimum(one[2:], others[:, 2:]) - np.maximum(one[:2], others[:, :2])
    shared = np.where((sides > 0).all(-1), sides[:, 0] * sides[:, 1], 0)
    area, areas = (one[2] - one[0]) * (one[3] - one[1]), (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    union = area + areas - shared
    return np.where((area > 0) & (areas > 0) & (union > 0), shared / np.where(union > 0, union, 1), 0)


def _selected(call: Call, arrays: Arrays) -> Array:
    boxes, scores = _corners(call, given(arrays, 0)), given(arrays, 1)
    count, overlap, score = (_limit(arrays, index) for index in (COUNT, OVERLAP, SCORE))
    triples = []
    for batch, label in np.ndindex(scores.shape[0], scores.shape[1]):
        order = np.argsort(-scores[batch, label], kind="stable")
        order = order if score is None else order[scores[batch, label][order] > score]
        chosen: list[int] = []
        for box in order.tolist():
            if len(chosen) >= (0 if count is None else int(count)):
                break
            if not (_overlap(boxes[batch, box], boxes[batch, chosen]) > (0 if overlap is None else overlap)).any():
                chosen.append(box)
        triples += [(batch, label, box) for box in chosen]
    return np.asarray(triples, np.int64).reshape(-1, 3)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    selected, most = _selected(call, arrays), bound(call)
    return (selected,) if most is None else (padded(selected, most), count_of(len(selected), most))


def _lengths(call: Call) -> Lengths | None:
    if all(tensor is None or index in call.constants for index, tensor in enumerate(call.inputs)):
        return None
    batch, classes, boxes = needs_rank(call, 1, 3, "NonMaxSuppression")
    each = boxes
    if call.optional(COUNT) is None or (COUNT in call.constants and not call.constants[COUNT].size):
        each = 0
    elif COUNT in call.constants:
        each = min(boxes, max(0, int(call.constants[COUNT].reshape(-1)[0])))
    return Lengths(batch * classes * each, (0,))


OPERATORS = (
    Operator(
        "NonMaxSuppression",
        _infer,
        _evaluate,
        ("boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold"),
        ("selected", "count"),
        kind=Kind.OPAQUE,
        sketch="suppressed",
        lengths=_lengths,
    ),
)
