"""SVMRegressor and SVMClassifier of ai.onnx.ml: kernels with support vectors, weighed, compared pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from tilewright.frontend.splits import scores
from tilewright.frontend.splits.linear_models import rows
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.scores import ML
from tilewright.model import DType

Floats = npt.NDArray[np.float32]


def _floats(parts: Parts, name: str) -> Floats:
    return np.asarray(parts.numbers(name, ()), np.float32)


def _kernels(parts: Parts, x: str, vectors: Floats) -> str:
    """The kernel of every row with every support vector."""
    kind = parts.text("kernel_type", "LINEAR")
    gamma, shift, degree = (*parts.numbers("kernel_params", ()), 0.0, 0.0, 3.0)[:3]
    product = parts.op("MatMul", x, parts.constant(vectors.T, DType.F32))
    if kind == "LINEAR":
        return product
    if kind == "RBF":  # the squared distance from three products, so that no difference is kept for each pair
        own = parts.op("ReduceSum", parts.op("Mul", x, x), parts.constant([-1]), keepdims=1)
        distance = parts.op("Sub", own, parts.op("Mul", product, parts.constant(2, DType.F32)))
        distance = parts.op("Add", distance, parts.constant((vectors.astype(np.float64) ** 2).sum(1), DType.F32))
        distance = parts.op("Max", distance, parts.constant(0, DType.F32))
        return parts.op("Exp", parts.op("Mul", distance, parts.constant(-gamma, DType.F32)))
    inner = parts.op("Add", parts.op("Mul", product, parts.constant(gamma, DType.F32)),
                     parts.constant(shift, DType.F32))  # fmt: skip
    if kind == "SIGMOID":
        return parts.op("Tanh", inner)
    if kind == "POLY":
        return parts.op("Pow", inner, parts.constant(degree, DType.F32))
    raise parts.invalid(f"attribute 'kernel_type' is '{kind}'")


def _vectors(parts: Parts, count: int) -> Floats:
    vectors, width = _floats(parts, "support_vectors"), parts.shape(0)[-1]
    if count < 1 or vectors.size != count * width:
        raise parts.invalid(f"it has {vectors.size} numbers for {count} support vectors of {width} features")
    return vectors.reshape(count, width)


def _regressor(parts: Parts) -> None:
    count, weights, rho = parts.whole("n_supports", 0), _floats(parts, "coefficients"), _floats(parts, "rho")
    x = rows(parts)
    if count:
        x = _kernels(parts, x, _vectors(parts, count))
    if weights.size != (count or parts.shape(0)[-1]) or rho.size < 1:
        raise parts.invalid(f"it has {weights.size} coefficients and {rho.size} offsets")
    total = parts.op("MatMul", x, parts.constant(weights.reshape(-1, 1), DType.F32))
    total = parts.op("Add", total, parts.constant(rho[:1], DType.F32))
    if parts.whole("one_class", 0):
        inside = parts.op("Greater", total, parts.constant(0, DType.F32))
        one, other = (parts.constant(value, DType.F32) for value in (1, -1))
        total = parts.op("Where", inside, one, other)
    scores.transformed(parts, total, parts.text("post_transform", "NONE"), parts.output(0))


def _classifier(parts: Parts) -> None:
    counts = [int(each) for each in parts.numbers("vectors_per_class", ())]
    rho, weights, classes = _floats(parts, "rho"), _floats(parts, "coefficients"), len(counts)
    if classes < 2:
        raise parts.unsupported("it has no support vectors", "export the model as LinearClassifier")
    pairs, total = list(combinations(range(classes), 2)), sum(counts)
    if weights.size != (classes - 1) * total or rho.size != len(pairs):
        raise parts.invalid(f"it has {weights.size} coefficients and {rho.size} offsets for {classes} classes")
    starts = np.cumsum([0, *counts])
    table = np.zeros((total, len(pairs)), np.float32)
    for place, (one, other) in enumerate(pairs):
        for first, second in ((one, other - 1), (other, one)):
            span = slice(starts[first], starts[first + 1])
            table[span, place] = weights.reshape(classes - 1, total)[second, span]
    decisions = parts.op(
        "MatMul", _kernels(parts, rows(parts), _vectors(parts, total)), parts.constant(table, DType.F32)
    )
    decisions = parts.op("Add", decisions, parts.constant(rho, DType.F32))
    if parts.numbers("prob_a", ()):
        _probable(parts, decisions, classes)
    else:
        _voted(parts, decisions, pairs, classes)


_LABELS = ("classlabels_ints", "classlabels_strings")


def _probable(parts: Parts, decisions: str, classes: int) -> None:
    """Platt's probabilities, exactly; ONNX Runtime iterates towards them and ends within 0.0025.

    Those of more than two classes are no more than the end of such an iteration.
    """
    if classes > 2:
        why, fix = "its probabilities of more than two classes are iterated", "train with probability=False"
        raise parts.unsupported(why, fix)
    a, b = (_floats(parts, name)[:1] for name in ("prob_a", "prob_b"))
    shifted = parts.op("Add", parts.op("Mul", decisions, parts.constant(a, DType.F32)), parts.constant(b, DType.F32))
    first = parts.op("Sigmoid", parts.op("Neg", shifted))
    limits = (parts.constant(value, DType.F32) for value in (1e-7, 1 - 1e-7))
    first = parts.op("Clip", first, *limits)
    both = parts.op("Concat", first, parts.op("Sub", parts.constant(1, DType.F32), first), axis=1)
    scores.labels(parts, scores.largest(parts, both), *_LABELS, 2)
    if parts.output(1):
        scores.transformed(parts, both, parts.text("post_transform", "NONE"), parts.output(1))


def _voted(parts: Parts, decisions: str, pairs: list[tuple[int, int]], classes: int) -> None:
    """Every pair votes for one of its classes; the first of those with most votes is the label."""
    for_one, for_other = (np.zeros((len(pairs), classes), np.float32) for _ in range(2))
    for place, (one, other) in enumerate(pairs):
        for_one[place, one] = for_other[place, other] = 1
    won = parts.op("Cast", parts.op("Greater", decisions, parts.constant(0, DType.F32)), to=1)
    lost = parts.op("Sub", parts.constant(1, DType.F32), won)
    votes = parts.op("Add", parts.op("MatMul", won, parts.constant(for_one, DType.F32)),
                     parts.op("MatMul", lost, parts.constant(for_other, DType.F32)))  # fmt: skip
    scores.labels(parts, scores.largest(parts, votes), *_LABELS, classes)
    if parts.output(1):
        kind = parts.text("post_transform", "NONE")
        if classes == 2:
            decisions = parts.op("Concat", parts.op("Neg", decisions), decisions, axis=1)
        scores.transformed(parts, decisions, kind, parts.output(1))


SPLITS = {(ML, "SVMRegressor"): _regressor, (ML, "SVMClassifier"): _classifier}
