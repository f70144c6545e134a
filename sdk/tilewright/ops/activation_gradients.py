"""The gradients of activations with parameters."""

from __future__ import annotations

from math import pi, sqrt

from tilewright.ops.operator import Adjoint

SELU_ALPHA, SELU_GAMMA = 1.67326319243545532227, 1.05070102214813232422


def _below(a: Adjoint, limit: float = 0.0) -> str:
    return a.op("Less", a.x(), a.number(limit))


def _above(a: Adjoint, limit: float = 0.0) -> str:
    return a.op("Greater", a.x(), a.number(limit))


def leaky_relu(a: Adjoint, index: int) -> str:
    """`alpha * dy` below zero, `dy` else."""
    return a.op("Where", _below(a), a.mul(a.dy, a.number(a.call.real("alpha", 0.01))), a.dy)


def thresholded_relu(a: Adjoint, index: int) -> str:
    """`dy` above alpha."""
    return a.where(_above(a, a.call.real("alpha", 1.0)), a.dy)


def elu(a: Adjoint, index: int) -> str:
    """`dy * (y + alpha)` below zero, for there `y + alpha = alpha * exp(x)`."""
    return a.op("Where", _below(a), a.mul(a.dy, a.add(a.y, a.number(a.call.real("alpha", 1.0)))), a.dy)


def selu(a: Adjoint, index: int) -> str:
    """`gamma * dy` above zero, `dy * (y + gamma * alpha)` else."""
    alpha, gamma = a.call.real("alpha", SELU_ALPHA), a.call.real("gamma", SELU_GAMMA)
    slope = a.op("Where", _above(a), a.number(gamma), a.add(a.y, a.number(alpha * gamma)))
    return a.mul(a.dy, slope)


def celu(a: Adjoint, index: int) -> str:
    """`dy * exp(x / alpha)` below zero, `dy` else."""
    raised = a.op("Exp", a.mul(a.op("Min", a.x(), a.number(0)), a.number(1 / a.call.real("alpha", 1.0))))
    return a.mul(a.dy, raised)


def gelu(a: Adjoint) -> str:
    """`Phi(x) + x * phi(x)`, or the slope of its approximation by tanh."""
    x, half = a.x(), a.number(0.5)
    square = a.mul(x, x)
    if a.call.text("approximate", "none") == "none":
        area = a.mul(a.add(a.op("Erf", a.mul(x, a.number(sqrt(0.5)))), a.number(1)), half)
        density = a.mul(a.op("Exp", a.mul(square, a.number(-0.5))), a.number(1 / sqrt(2 * pi)))
        return a.add(area, a.mul(x, density))
    cubed = a.add(a.mul(square, a.number(0.044715)), a.number(1))
    t = a.op("Tanh", a.mul(a.mul(x, cubed), a.number(sqrt(2 / pi))))
    inner = a.mul(a.add(a.mul(square, a.number(3 * 0.044715)), a.number(1)), a.number(sqrt(2 / pi)))
    rising = a.mul(a.mul(x, a.sub(a.number(1), a.mul(t, t))), inner)
    return a.mul(a.add(a.add(t, a.number(1)), rising), half)


def hard_sigmoid(a: Adjoint, index: int) -> str:
    """`alpha * dy` where the result lies between 0 and 1."""
    inside = _between(a, 0, 1)
    return a.where(inside, a.mul(a.dy, a.number(a.call.real("alpha", 0.2))))


def swish(a: Adjoint) -> str:
    """`s + alpha * x * s * (1 - s)` where `s = sigmoid(alpha * x)`."""
    alpha = a.number(a.call.real("alpha", 1.0))
    s = a.op("Sigmoid", a.mul(alpha, a.x()))
    return a.add(s, a.mul(a.mul(alpha, a.x()), a.mul(s, a.sub(a.number(1), s))))


def shrink(a: Adjoint, index: int) -> str:
    """`dy` where the operand is further from zero than lambd."""
    return a.where(a.op("Greater", a.op("Abs", a.x()), a.number(a.call.real("lambd", 0.5))), a.dy)


def clip_slope(a: Adjoint, index: int) -> str:
    """`dy` where the result lies strictly between the limits; none flows to the limits."""
    if index:
        return ""
    limits = [a.x(place) if a.call.optional(place) is not None else "" for place in (1, 2)]
    inside = [a.op(op, a.y, limit) for op, limit in zip(("Greater", "Less"), limits, strict=True) if limit]
    if not inside:
        return a.dy
    return a.where(inside[0] if len(inside) == 1 else a.op("And", *inside), a.dy)


def _between(a: Adjoint, low: float, high: float) -> str:
    return a.op("And", a.op("Greater", a.y, a.number(low)), a.op("Less", a.y, a.number(high)))


def prelu(a: Adjoint, index: int) -> str:
    """Below zero `slope * dy` to the operand and `x * dy` to the slope, `dy` to the operand else."""
    if index == 0:
        return a.op("Where", _below(a), a.mul(a.dy, a.x(1)), a.dy)
    return a.unbroadcast(a.where(_below(a), a.mul(a.dy, a.x())), a.shape(1))
