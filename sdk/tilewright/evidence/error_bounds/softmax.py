"""Softmax: the quotient of exponentials, each as accurate as its kernel declares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.evidence.error_bounds.value import TINY, Known, NoBound, Step, box, gamma
from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.ops.softmax import reduced_axes


def softmax(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """With errors of at most e the result is y exp(h), |h - (e_i - sum y_j e_j)| <= e^2 / 2 (Hoeffding's lemma)."""
    if not declared:
        return NoBound("its kernel declares no accuracy of exponentials")
    x, axes = operands[0], reduced_axes(call)
    terms = int(np.prod([x.low.shape[axis] for axis in axes]))
    centre = _softmax(x.centre, axes)
    width = np.max(x.error + (x.high - x.low) / 2, axis=axes, keepdims=True)
    radius = np.max((x.high - x.low) / 2, axis=axes, keepdims=True)
    low, high = box(centre * np.exp(-2 * radius), np.minimum(centre * np.exp(2 * np.minimum(radius, 350)), 1), centre)
    worst = np.max(x.error, axis=axes, keepdims=True)
    grown = np.expm1(2 * np.minimum(worst, 20.0))
    far = np.minimum(width, 20.0)
    remainder = np.minimum(high * (far * worst * 6 * np.exp(2 * far) + grown - 2 * np.minimum(worst, 20.0)), 1.0)
    size = np.minimum(high * (1 + grown), 1.0)
    rounding, remainder = size * gamma(terms + 4) + TINY, remainder + size * 2 * declared

    def reach(errors: Sequence[Array]) -> Array:
        weighted = errors[0] * centre
        others = weighted.sum(axis=axes, keepdims=True) - weighted
        bound: Array = np.minimum(centre * (errors[0] * (1 - centre) + others), 1.0)
        return bound

    def ahead(rows: Sequence[Array]) -> Array:
        weighted = rows[0] * centre
        moved: Array = weighted - centre * weighted.sum(axis=tuple(axis + 1 for axis in axes), keepdims=True)
        return moved

    def back(rows: Array) -> Sequence[Array | None]:
        weighted = rows * centre
        return [weighted - centre * weighted.sum(axis=tuple(axis + 1 for axis in axes), keepdims=True)]

    return Step(
        low, high, [x.error], reach, rounding, rounding, remainder, ahead, back,
        f"(2 * {declared:g} + gamma_{terms + 4}) * |result|; the first is what the kernel declares and tests show, "
        "not proved",
    )  # fmt: skip


def _softmax(x: Array, axes: tuple[int, ...]) -> Array:
    power = np.exp(x - x.max(axis=axes, keepdims=True))
    share: Array = power / power.sum(axis=axes, keepdims=True)
    return share
