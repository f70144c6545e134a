"""LinearRegressor and LinearClassifier of ai.onnx.ml: a product with weights and an offset."""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits import scores
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.scores import ML
from tilewright.model import DType


def rows(parts: Parts) -> str:
    """The first operand as rows of floats."""
    name, shape = parts.input(0), parts.shape(0)
    if parts.tensor(0).dtype is not DType.F32:
        name = parts.op("Cast", name, to=1)
    return parts.reshape(name, (1, *shape)) if len(shape) == 1 else name


def _product(parts: Parts, targets: int) -> str:
    """The scores [rows, targets]."""
    width = parts.shape(0)[-1]
    weights = np.asarray(parts.numbers("coefficients"), np.float32)
    if targets < 1 or weights.size != targets * width:
        raise parts.invalid(f"it has {weights.size} coefficients for {targets} targets of {width} features")
    product = parts.op("MatMul", rows(parts), parts.constant(weights.reshape(targets, width).T, DType.F32))
    offsets = parts.numbers("intercepts", ())
    if not offsets:
        return product
    if len(offsets) != targets:
        raise parts.invalid(f"it has {len(offsets)} intercepts for {targets} targets")
    return parts.op("Add", product, parts.constant(offsets, DType.F32))


def _regressor(parts: Parts) -> None:
    targets = _product(parts, parts.whole("targets", 1))
    scores.transformed(parts, targets, parts.text("post_transform", "NONE"), parts.output(0))


def _classifier(parts: Parts) -> None:
    names = parts.node.attributes.get("classlabels_strings") or parts.numbers("classlabels_ints", ())
    assert isinstance(names, tuple)
    kind, width = parts.text("post_transform", "NONE"), parts.shape(0)[-1]
    targets = len(parts.numbers("coefficients")) // max(width, 1)
    class_scores, labels = _product(parts, targets), ("classlabels_ints", "classlabels_strings")
    if targets == 1 and len(names) == 2:
        scores.labels(parts, scores.above(parts, class_scores, 0.0), *labels, 2)
        if parts.output(1):
            positive = scores.transformed(parts, class_scores, kind)
            other = parts.op("Sub", parts.constant(1, DType.F32), positive)
            parts.op("Concat", other, positive, into=parts.output(1), axis=1)
        return
    scores.labels(parts, scores.largest(parts, class_scores), *labels, targets)
    if parts.output(1):
        scores.transformed(parts, class_scores, kind, parts.output(1))


SPLITS = {(ML, "LinearRegressor"): _regressor, (ML, "LinearClassifier"): _classifier}
