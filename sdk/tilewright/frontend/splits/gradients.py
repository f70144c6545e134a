"""Operators of training graphs as nodes: gradients of activations, of Softmax and its loss, of norms; and steps."""

from __future__ import annotations

from math import pi, prod, sqrt

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.frontend.splits.whole_numbers import PACT


def _softmax(parts: Parts) -> None:
    """`(dy - sum(dy * y)) * y` for the results `y`."""
    dy, y = parts.input(0), parts.input(1)
    axes = parts.constant([parts.whole("axis", -1)])
    total = parts.op("ReduceSum", parts.op("Mul", dy, y), axes, keepdims=1)
    parts.op("Mul", parts.op("Sub", dy, total), y, into=parts.output(0))


def _loss(parts: Parts) -> None:
    """Of logarithms of probabilities [batch, classes] and labels [batch]; the incoming gradient comes first or is 1."""
    first = 1 if len(parts.node.inputs) > 2 else 0
    if parts.input(first + 2) or len(parts.shape(first)) != 2:
        raise parts.unsupported("it weighs its classes, or has more axes than two", "export it with plain operators")
    rows, classes = parts.shape(first)
    probabilities = parts.op("Exp", parts.input(first))
    limits = parts.like(first, [0, 1])
    chosen = parts.op("OneHot", parts.input(first + 1), parts.constant(classes), limits, axis=-1)
    result = parts.op("Sub", probabilities, chosen)
    if parts.text("reduction", "mean") == "mean":
        result = parts.op("Mul", result, parts.like(first, 1 / rows))
    if first:
        result = parts.op("Mul", result, parts.input(0))
    parts.op("Identity", result, into=parts.output(0))


def _gelu(parts: Parts) -> None:
    """`dy * (Phi(x) + x * phi(x))`."""
    dy, x = parts.input(0), parts.input(1)
    area = parts.op("Erf", parts.op("Mul", x, parts.like(1, sqrt(0.5))))
    area = parts.op("Mul", parts.op("Add", area, parts.like(1, 1)), parts.like(1, 0.5))
    density = parts.op("Exp", parts.op("Mul", parts.op("Mul", x, x), parts.like(1, -0.5)))
    density = parts.op("Mul", density, parts.like(1, 1 / sqrt(2 * pi)))
    parts.op("Mul", dy, parts.op("Add", area, parts.op("Mul", x, density)), into=parts.output(0))


def _layer(parts: Parts) -> None:
    """Gradients of a layer normalisation over the last axes: of its input, its scale and its bias."""
    dy, x, scale = (parts.input(index) for index in range(3))
    shape = parts.shape(1)
    axis = parts.whole("axis", -1) % max(len(shape), 1)
    inner, outer = parts.constant(range(axis, len(shape))), parts.constant(range(axis))
    mean, inverse = _statistics(parts, x, inner)
    normal = parts.op("Mul", parts.op("Sub", x, mean), inverse)
    if parts.output(0):
        weighed = parts.op("Mul", dy, scale)
        first = parts.op("ReduceMean", weighed, inner, keepdims=1)
        second = parts.op("ReduceMean", parts.op("Mul", weighed, normal), inner, keepdims=1)
        rest = parts.op("Sub", parts.op("Sub", weighed, first), parts.op("Mul", normal, second))
        parts.op("Mul", rest, inverse, into=parts.output(0))
    sizes = shape[axis:]
    if parts.output(1):
        total = parts.op("ReduceSum", parts.op("Mul", dy, normal), outer, keepdims=0)
        parts.reshape(total, sizes, parts.output(1))
    if parts.output(2):
        parts.reshape(parts.op("ReduceSum", dy, outer, keepdims=0), sizes, parts.output(2))
    assert prod(sizes)


def _statistics(parts: Parts, x: str, axes: str) -> tuple[str, str]:
    """Mean and inverse deviation, from the operands where the graph saved them."""
    if parts.input(3) and parts.input(4):
        return parts.input(3), parts.input(4)
    mean = parts.op("ReduceMean", x, axes, keepdims=1)
    centred = parts.op("Sub", x, mean)
    variance = parts.op("ReduceMean", parts.op("Mul", centred, centred), axes, keepdims=1)
    shifted = parts.op("Add", variance, parts.like(1, parts.number("epsilon", 1e-5)))
    return mean, parts.op("Reciprocal", parts.op("Sqrt", shifted))


def _relu(parts: Parts) -> None:
    """`dy` where the result is above zero."""
    zero = parts.like(0, 0)
    parts.op("Where", parts.op("Greater", parts.input(1), zero), parts.input(0), zero, into=parts.output(0))


def _sigmoid(parts: Parts) -> None:
    """`dy * y * (1 - y)`."""
    slope = parts.op("Mul", parts.input(1), parts.op("Sub", parts.like(0, 1), parts.input(1)))
    parts.op("Mul", parts.input(0), slope, into=parts.output(0))


def _tanh(parts: Parts) -> None:
    """`dy * (1 - y * y)`."""
    slope = parts.op("Sub", parts.like(0, 1), parts.op("Mul", parts.input(1), parts.input(1)))
    parts.op("Mul", parts.input(0), slope, into=parts.output(0))


def _log_softmax(parts: Parts) -> None:
    """`dy - exp(y) * sum(dy)`."""
    total = parts.op("ReduceSum", parts.input(0), parts.constant([parts.whole("axis", -1)]), keepdims=1)
    share = parts.op("Mul", parts.op("Exp", parts.input(1)), total)
    parts.op("Sub", parts.input(0), share, into=parts.output(0))


def _accumulated(parts: Parts) -> None:
    """What was accumulated with a value more, or the value alone where the flag says so; the first result tells that
    it was done."""
    added = parts.op("Add", parts.input(0), parts.input(1))
    if parts.input(2):
        added = parts.op("Where", parts.input(2), parts.input(1), added)
    if parts.output(1):
        parts.op("Identity", added, into=parts.output(1))
    if parts.output(0):
        parts.op("Identity", parts.constant(np.ones(1, np.bool_)), into=parts.output(0))


def _step(parts: Parts) -> None:
    """Weights less the learning rate times their gradient."""
    step = parts.op("Mul", parts.input(1), parts.like(1, parts.number("lr")))
    parts.op("Sub", parts.input(0), step, into=parts.output(0))


SPLITS = {
    (MICROSOFT, "InPlaceAccumulatorV2"): _accumulated,
    (MICROSOFT, "LogSoftmaxGrad"): _log_softmax,
    (MICROSOFT, "LogSoftmaxGrad_13"): _log_softmax,
    (MICROSOFT, "ReluGrad"): _relu,
    (MICROSOFT, "SigmoidGrad"): _sigmoid,
    (MICROSOFT, "SoftmaxGrad"): _softmax,
    (MICROSOFT, "SoftmaxGrad_13"): _softmax,
    (MICROSOFT, "TanhGrad"): _tanh,
    (MICROSOFT, "SoftmaxCrossEntropyLossGrad"): _loss,
    (MICROSOFT, "GeluGrad"): _gelu,
    (MICROSOFT, "LayerNormalizationGrad"): _layer,
    (PACT, "GeluGrad"): _gelu,
    (PACT, "SGD"): _step,
}
