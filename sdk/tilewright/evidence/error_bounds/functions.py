"""Functions of one element and quotients, by the range of their slope where values and errors may lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.evidence.error_bounds.elementwise import limited, rounded
from tilewright.evidence.error_bounds.value import TINY, UNIT, Known, NoBound, Rule, Step, box
from tilewright.model import Array
from tilewright.ops.operator import Call

Slopes = Callable[[Array, Array], tuple[Array, Array]]
"""From the ends of intervals to the least and the largest slope in each."""
Curve = Callable[[Array], Array]
FREE = 2.0 * math.sqrt(1 / math.pi)


@dataclass(frozen=True)
class Function:
    """A function of one element: its value, its slope, the range of its slope, and its roundings; where those are
    None its kernel declares how accurate it is."""

    value: Curve
    slope: Curve
    slopes: Slopes
    roundings: int | None


def curved(value: Curve, slope: Curve, curvature: float) -> Function:
    """A function whose second derivative is at most `curvature`, as accurate as its kernel declares."""

    def slopes(low: Array, high: Array) -> tuple[Array, Array]:
        middle, reach = slope((low + high) / 2), curvature * (high - low) / 2
        return middle - reach, middle + reach

    return Function(value, slope, slopes, None)


def bent(value: Curve, slope: Curve, corners: Sequence[tuple[float, float, float]], roundings: int | None) -> Function:
    """A function whose slope rises or falls steadily between `corners`: a place with the slopes on both sides of it."""

    def slopes(low: Array, high: Array) -> tuple[Array, Array]:
        least, most = np.minimum(slope(low), slope(high)), np.maximum(slope(low), slope(high))
        for place, left, right in corners:
            inside = (low <= place) & (place <= high)
            least = np.where(inside, np.minimum(least, min(left, right)), least)
            most = np.where(inside, np.maximum(most, max(left, right)), most)
        return least, most

    return Function(value, slope, slopes, roundings)


def apply(function: Function, x: Known, declared: float) -> Step | NoBound:
    """The step of a function: its slope at the middle, and what the slope may differ by from there."""
    if function.roundings is None and not declared:
        return NoBound("its kernel declares no accuracy")
    least, most = function.slopes(x.low - x.error, x.high + x.error)
    steep, middle = function.slope(x.centre), function.value(x.centre)
    apart = np.maximum(most - steep, steep - least)
    reach = np.maximum(np.abs(least), np.abs(most)) * (x.high - x.low) / 2
    size = np.abs(middle) + reach + np.maximum(np.abs(least), np.abs(most)) * x.error
    low, high = box(middle - reach, middle + reach, 1.0 + size)
    nothing = np.zeros_like(low)
    exact = function.roundings is not None
    rounding = function.roundings * (UNIT * size * 1.001 + TINY) if function.roundings else nothing
    remainder = apart * x.error + (nothing if exact else declared * (1.0 + size))
    rule = f"{function.roundings} roundings" if exact else f"{declared:g}, which the kernel declares, not proved"
    return Step(
        low, high, [x.error], lambda errors: np.abs(steep) * errors[0], rounding, rounding, remainder,
        lambda rows: rows[0] * steep, lambda rows: [rows * steep], rule,
    )  # fmt: skip


def _by_one(function: Function) -> Rule:
    def rule(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
        return apply(function, operands[0], declared)

    return rule


def _sigmoid(x: Array) -> Array:
    value: Array = 0.5 * (1 + np.tanh(0.5 * x))
    return value


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


def _bell(x: Array) -> Array:
    value: Array = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return value


def _share(x: Array) -> Array:
    return 0.5 * (1 + _erf(x / math.sqrt(2)))


absolute = _by_one(bent(np.abs, np.sign, [(0.0, -1.0, 1.0)], 0))
negative = _by_one(bent(np.negative, lambda x: np.full_like(x, -1.0), [], 0))
erf = _by_one(curved(_erf, lambda x: FREE * np.exp(-x * x), 0.968))
swish = _by_one(curved(lambda x: x * _sigmoid(x), lambda x: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))), 0.5))
gelu = _by_one(curved(lambda x: x * _share(x), lambda x: _share(x) + x * _bell(x), 0.7979))
softplus = _by_one(curved(lambda x: np.logaddexp(0, x), _sigmoid, 0.25))
hard_swish = _by_one(
    bent(
        lambda x: x * np.clip(x / 6 + 0.5, 0, 1), lambda x: np.where(x <= -3, 0.0, np.where(x >= 3, 1.0, x / 3 + 0.5)),
        [(-3.0, 0.0, -0.5), (3.0, 1.5, 1.0)], 4,
    )
)  # fmt: skip


def leaky(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """LeakyRelu, and PRelu with constant slopes."""
    if call.node.op == "PRelu" and 1 not in call.constants:
        return NoBound("its slopes are computed at run time")
    shape = operands[0].low.shape
    alpha = call.constants[1] if call.node.op == "PRelu" else np.float32(call.real("alpha", 0.01))
    below = np.broadcast_to(np.asarray(alpha, np.float64), shape)

    def slopes(low: Array, high: Array) -> tuple[Array, Array]:
        sure = np.where(low > 0, 1.0, below)
        open_ = (low <= 0) & (high >= 0)
        return np.where(open_, np.minimum(below, 1.0), sure), np.where(open_, np.maximum(below, 1.0), sure)

    function = Function(lambda x: np.where(x < 0, below * x, x), lambda x: np.where(x < 0, below, 1.0), slopes, 1)
    return apply(function, operands[0], declared)


def elu(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Elu."""
    alpha = call.real("alpha", 1.0)

    def slope(x: Array) -> Array:
        return np.where(x < 0, alpha * np.exp(np.minimum(x, 0)), 1.0)

    value = bent(lambda x: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x), slope, [(0.0, alpha, 1.0)], None)
    return apply(value, operands[0], declared)


def hard_sigmoid(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """HardSigmoid: a product, a sum and a limit."""
    alpha, beta = call.real("alpha", 0.2), call.real("beta", 0.5)
    line = Function(
        lambda x: alpha * x + beta, lambda x: np.full_like(x, alpha),
        lambda low, high: (np.full_like(low, alpha), np.full_like(high, alpha)), 3,
    )  # fmt: skip
    before = apply(line, operands[0], declared)
    if isinstance(before, NoBound):
        return before
    after = limited(before.known, 0.0, 1.0)
    inner = before.fresh
    slope = after.reach([np.ones_like(inner)])
    return Step(
        after.low, after.high, before.errors, lambda errors: slope * before.reach(errors), slope * before.rounding,
        slope * before.rounding, slope * before.remainder + after.remainder, lambda rows: before.ahead(rows) * slope,
        lambda rows: before.back(rows * slope), before.rule,
    )  # fmt: skip


def root(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Sqrt of what is positive, errors included: IEEE 754 rounds it once."""
    x = operands[0]
    if (x.low - x.error <= 0).any():
        return NoBound("its operand, with its error, may be zero, where a root is infinitely steep")
    return apply(bent(np.sqrt, lambda x: 0.5 / np.sqrt(x), [], 1), x, declared)


def quotient(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Div: linear around the middles, what its slopes may differ by left over."""
    a, b = operands
    if ((b.low - b.error <= 0) & (b.high + b.error >= 0)).any():
        return NoBound("its divisor, with its error, may be zero")
    near, exact = (1 / (b.low - b.error), 1 / (b.high + b.error)), (1 / b.low, 1 / b.high)
    corners = [x * y for x in (a.low, a.high) for y in exact]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    steep = 1 / b.centre, -a.centre / b.centre**2
    first = np.maximum(np.abs(near[0] - steep[0]), np.abs(near[1] - steep[0]))
    second = np.maximum.reduce([np.abs(-corner * inverse - steep[1]) for corner in (low, high) for inverse in near])
    size = np.maximum(np.abs(low), np.abs(high)) * np.ones_like(first * second)
    carried = (np.abs(steep[0]) + first) * a.error + (np.abs(steep[1]) + second) * b.error
    return rounded(low, high, operands, steep, size + carried, first * a.error + second * b.error)
