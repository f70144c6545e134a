"""Operators of training graphs as nodes: gradients of Softmax, of its loss, of Gelu and LayerNormalization, and SGD."""

from __future__ import annotations

from math import pi, prod, sqrt

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


def _step(parts: Parts) -> None:
    """Weights less the learning rate times their gradient."""
    step = parts.op("Mul", parts.input(1), parts.like(1, parts.number("lr")))
    parts.op("Sub", parts.input(0), step, into=parts.output(0))


SPLITS = {
    (MICROSOFT, "SoftmaxGrad"): _softmax,
    (MICROSOFT, "SoftmaxCrossEntropyLossGrad"): _loss,
    (MICROSOFT, "GeluGrad"): _gelu,
    (MICROSOFT, "LayerNormalizationGrad"): _layer,
    (PACT, "GeluGrad"): _gelu,
    (PACT, "SGD"): _step,
}
