"""What the classifiers and regressors of ai.onnx.ml do with scores: a transformation, a second class, labels."""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.model import DType

ML = "ai.onnx.ml"


def transformed(parts: Parts, scores: str, kind: str, into: str = "") -> str:
    """The scores behind `post_transform`."""
    if kind in ("", "NONE"):
        return parts.op("Identity", scores, into=into) if into else scores
    if kind == "LOGISTIC":
        return parts.op("Sigmoid", scores, into=into)
    if kind == "SOFTMAX":
        return parts.op("Softmax", scores, into=into, axis=-1)
    if kind == "SOFTMAX_ZERO":  # scores of 0 stay 0
        zero = parts.constant(0, DType.F32)
        present = parts.op("Cast", parts.op("Not", parts.op("Equal", scores, zero)), to=1)
        largest = parts.op("ReduceMax", scores, parts.constant([-1]), keepdims=1)
        raised = parts.op("Mul", parts.op("Exp", parts.op("Sub", scores, largest)), present)
        total = parts.op("ReduceSum", raised, parts.constant([-1]), keepdims=1)
        return parts.op("Div", raised, total, into=into)
    raise parts.unsupported(f"its post_transform is '{kind}'", "train the model with another one (NONE, LOGISTIC)")


def labels(parts: Parts, chosen: str, ints: str, strings: str, count: int) -> None:
    """The first result: the label of the class whose number [rows] is `chosen`."""
    if not parts.output(0):
        return
    values = parts.numbers(ints, ())
    if not values:
        if parts.node.attributes.get(strings):
            why = f"its labels are text ({strings})"
            raise parts.unsupported(why, "train with labels that are numbers, or end the model at the scores")
        values = tuple(range(count))
    if values == tuple(range(count)):
        parts.op("Identity", chosen, into=parts.output(0))
        return
    parts.op("Gather", parts.constant(np.asarray(values, np.int64)), chosen, into=parts.output(0), axis=0)


def above(parts: Parts, score: str, limit: float, dtype: DType = DType.F32) -> str:
    """Class 1 where the only score [rows, 1] is above a limit, else class 0, as [rows]."""
    passed = parts.op("Cast", parts.op("Greater", score, parts.constant(limit, dtype)), to=7)
    return parts.op("Squeeze", passed, parts.constant([1]))


def largest(parts: Parts, scores: str) -> str:
    """The number of the class with the largest score, the first of equal ones, as [rows]."""
    return parts.op("ArgMax", scores, axis=1, keepdims=0)


def pair(parts: Parts, score: str, kind: str, *, complement: bool) -> None:
    """The second result of two classes with one score [rows, 1]: `1 - score` and `score`, or `-score` and `score`."""
    if not parts.output(1):
        return
    if complement:
        other = parts.op("Sub", parts.constant(1, DType.F32), score)
    else:
        other = parts.op("Neg", score)
        if kind == "LOGISTIC":
            other, score = parts.op("Sigmoid", other), parts.op("Sigmoid", score)
    parts.op("Concat", other, score, into=parts.output(1), axis=1)
