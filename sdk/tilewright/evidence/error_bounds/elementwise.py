"""Elements by themselves: sums, products and limits, each rounded once; smooth functions as kernels declare them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tilewright.evidence.error_bounds.value import TINY, UNIT, Known, NoBound, Step, box
from tilewright.model import Array
from tilewright.ops.operator import Call

ONCE = "one rounding: u * |result|"


def _unbroadcast(rows: Array, shape: tuple[int, ...]) -> Array:
    """The adjoint of a broadcast; the first axis of `rows` are the rows."""
    extra = rows.ndim - 1 - len(shape)
    rows = rows.sum(axis=tuple(range(1, 1 + extra))) if extra else rows
    axes = tuple(axis + 1 for axis, size in enumerate(shape) if size == 1 and rows.shape[axis + 1] != 1)
    return rows.sum(axis=axes, keepdims=True) if axes else rows


def rounded(
    low: Array, high: Array, operands: Sequence[Known], slopes: Sequence[Array], scale: Array,
    remainder: Array | None = None,
) -> Step:  # fmt: skip
    """A step of one rounding of a result of magnitude `scale` at most."""
    rounding = UNIT * scale + TINY
    nothing = np.zeros_like(rounding)
    low, high = box(low, high, scale)

    def ahead(rows: Sequence[Array]) -> Array:
        lined = [_lined_up(row, low.ndim) for row in rows]
        return sum((row * slope for row, slope in zip(lined, slopes, strict=True)), np.zeros(1))

    def back(rows: Array) -> Sequence[Array | None]:
        return [_unbroadcast(rows * s, known.low.shape) for known, s in zip(operands, slopes, strict=True)]

    return Step(
        low, high, [known.error for known in operands],
        lambda errors: sum((np.abs(s) * e for s, e in zip(slopes, errors, strict=True)), np.zeros(1)) + nothing,
        rounding, rounding, nothing if remainder is None else remainder, ahead, back, ONCE,
    )  # fmt: skip


def _lined_up(rows: Array, rank: int) -> Array:
    """Rows of a smaller tensor with as many axes as the result has, so that they broadcast."""
    return rows.reshape(rows.shape[0], *(1,) * (rank + 1 - rows.ndim), *rows.shape[1:])


def add(call: Call, operands: Sequence[Known], declared: float, sign: int = 1) -> Step | NoBound:
    """Add and Sub of two operands."""
    a, b = operands
    low, high = (a.low + b.low, a.high + b.high) if sign > 0 else (a.low - b.high, a.high - b.low)
    scale = np.maximum(np.abs(low), np.abs(high)) + a.error + b.error
    return rounded(low, high, operands, [np.ones(1), np.full(1, float(sign))], scale)


def subtract(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Sub."""
    return add(call, operands, declared, -1)


def multiply(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Mul: linear around the centres, the product of errors and of the boxes' radii left over."""
    a, b = operands
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    scale = a.magnitude * b.magnitude
    radius_a, radius_b = (a.high - a.low) / 2, (b.high - b.low) / 2
    remainder = a.error * b.error + radius_b * a.error + radius_a * b.error
    return rounded(low, high, operands, [b.centre, a.centre], scale, remainder)


def limited(known: Known, low: float, high: float) -> Step:
    """A limit on both sides: no rounding; where an error could cross it, half of the error is left over."""
    x, error = known, known.error
    inside = (x.low - error >= low) & (x.high + error <= high)
    outside = (x.high + error <= low) | (x.low - error >= high)
    slope = np.where(inside, 1.0, np.where(outside, 0.0, 0.5))
    open_ = ~inside & ~outside
    nothing = np.zeros_like(error)
    return Step(
        np.clip(x.low, low, high), np.clip(x.high, low, high), [error], lambda errors: slope * errors[0], nothing,
        nothing, np.where(open_, 0.5 * error, 0.0), lambda rows: rows[0] * slope, lambda rows: [rows * slope],
        "no rounding; slope 0, 1, or between where open",
    )  # fmt: skip


def relu(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Relu."""
    return limited(operands[0], 0.0, np.inf)


def clip(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Clip with constant limits."""
    limit = call.operator.limit(call) if call.operator is not None and call.operator.limit is not None else None
    if limit is None:
        return NoBound("its limits are computed at run time")
    return limited(operands[0], limit.low, limit.high)


def _sigmoid(x: Array) -> Array:
    value: Array = 0.5 * (1 + np.tanh(0.5 * x))
    return value


def smooth(
    function: Callable[[Array], Array], slope: Callable[[Array], Array], curvature: float,
    call: Call, operands: Sequence[Known], declared: float,
) -> Step | NoBound:  # fmt: skip
    """A rising function with values in [-1, 1] and a second derivative of at most `curvature`."""
    if not declared:
        return NoBound("its kernel declares no accuracy")
    x = operands[0]
    reach = x.error + (x.high - x.low) / 2
    steep = slope(x.centre)
    remainder = np.minimum(curvature * reach, 2.0) * x.error
    low, high = box(function(x.low), function(x.high), np.ones_like(x.low))
    nothing = np.zeros_like(x.low)
    return Step(
        low, high, [x.error], lambda errors: np.abs(steep) * errors[0], nothing, nothing, remainder + declared,
        lambda rows: rows[0] * steep, lambda rows: [rows * steep],
        f"{declared:g}, which the kernel declares and tests show, not proved",
    )  # fmt: skip


sigmoid = partial(smooth, _sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x)), 0.0963)
tanh = partial(smooth, np.tanh, lambda x: 1 - np.tanh(x) ** 2, 0.7699)
