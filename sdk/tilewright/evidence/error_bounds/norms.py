"""Normalisations over axes: the slope at the middle, and what a root of a mean of squares may differ by from a line.

With c the operand less its mean, s = sqrt(mean c^2 + epsilon) and an error d, whose own mean is taken away, c/s moves
by d/s - c (c.d) / (n s^3), and by no more beside that than |d| r / (s (s - r)) + |c| r^2 / (s - r)^3 with
r = sqrt(mean d^2): s moves by at most r, and the second derivative of 1/|z| along w is at most 2 |w|^2 / |z|^3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.evidence.error_bounds.value import TINY, UNIT, Known, NoBound, Step, box, gamma
from tilewright.model import Array
from tilewright.ops.operator import Call


@dataclass(frozen=True)
class _Norm:
    """One normalisation around the middle of its operand, over `axes`."""

    axes: tuple[int, ...]
    centred: bool
    epsilon: float
    x: Array

    @property
    def less_mean(self) -> Array:
        """The operand less its mean, or as it is."""
        return self.x - self.x.mean(axis=self.axes, keepdims=True) if self.centred else self.x

    @property
    def root(self) -> Array:
        """The root of the mean of squares."""
        squares = np.square(self.less_mean).mean(axis=self.axes, keepdims=True)
        return np.asarray(np.sqrt(squares + self.epsilon))

    def ahead(self, rows: Array) -> Array:
        """The linear part, with a first axis of rows."""
        axes = tuple(axis + 1 for axis in self.axes)
        moved = rows - rows.mean(axis=axes, keepdims=True) if self.centred else rows
        along = (moved * self.less_mean).mean(axis=axes, keepdims=True)
        return np.asarray(moved / self.root - self.less_mean * along / self.root**3)

    def reach(self, error: Array) -> Array:
        """What the linear part makes of bounds."""
        moved = error + error.mean(axis=self.axes, keepdims=True) if self.centred else error
        along = (error * np.abs(self.less_mean)).mean(axis=self.axes, keepdims=True)
        return np.asarray(moved / self.root + np.abs(self.less_mean) * along / self.root**3)

    def left(self, error: Array) -> Array:
        """What is not linear; infinite where an error is as large as the root."""
        size = np.sqrt(np.square(error).mean(axis=self.axes, keepdims=True))
        moved = error + error.mean(axis=self.axes, keepdims=True) if self.centred else error
        spare = self.root - size
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = moved * size / (self.root * spare) + np.abs(self.less_mean) * size**2 / spare**3
        return np.where(spare > 0, bound, np.inf)


def _axes(call: Call) -> tuple[int, ...]:
    rank = len(call.shape(0))
    if call.node.op == "InstanceNormalization":
        return tuple(range(2, rank))
    return tuple(range(call.integer("axis", -1) % rank, rank))


def _gain(call: Call, index: int, otherwise: float) -> Array:
    """A constant factor or summand, as it meets the operand."""
    value = call.constants.get(index)
    if value is None:
        return np.full(1, otherwise)
    wide = value.astype(np.float64)
    instance = call.node.op == "InstanceNormalization"
    return wide.reshape(-1, *(1,) * (len(call.shape(0)) - 2)) if instance else wide


def normalised(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """LayerNormalization, RMSNormalization and InstanceNormalization with constant factors."""
    given = [index for index in range(1, len(call.inputs)) if call.optional(index) is not None]
    if any(index not in call.constants for index in given) or len(call.outputs) > 1:
        return NoBound("its factors are computed at run time, or it gives its statistics too")
    x, axes = operands[0], _axes(call)
    norm = _Norm(axes, call.node.op != "RMSNormalization", call.real("epsilon", 1e-5), x.centre)
    gain, bias = _gain(call, 1, 1.0), _gain(call, 2, 0.0)
    count = int(np.prod([x.low.shape[axis] for axis in axes]))
    radius, size = (x.high - x.low) / 2, np.abs(gain)
    middle = norm.less_mean / norm.root * gain + bias
    wide = size * (norm.reach(radius) + norm.left(radius))
    own = _perturbed(norm, x, count)
    largest = size * (np.abs(norm.less_mean / norm.root) + norm.reach(x.error + radius) + own) + np.abs(bias)
    rounding = size * own + gamma(count + 8) * largest + TINY
    remainder = size * (norm.left(x.error + radius) + norm.left(radius))
    if not np.isfinite(remainder).all():
        return NoBound("an error of its operand is as large as the root that it divides by")
    low, high = box(middle - wide, middle + wide, largest)
    return Step(
        low, high, [x.error], lambda errors: size * norm.reach(errors[0]), rounding, rounding, remainder,
        lambda rows: norm.ahead(rows[0]) * gain, lambda rows: [norm.ahead(rows * gain)],
        f"mean, squares and root of {count} elements in any order, gamma_{count + 8} * |result|",
    )  # fmt: skip


def _perturbed(norm: _Norm, x: Known, count: int) -> Array:
    """What roundings of the mean and of what is left without it make of the quotient."""
    if not norm.centred:
        return np.zeros_like(x.low)
    mean = gamma(count + 2) * x.magnitude.mean(axis=norm.axes, keepdims=True)
    each = mean + UNIT * (np.abs(norm.less_mean) + 2 * x.error + (x.high - x.low) + mean)
    size = np.sqrt(np.square(each).mean(axis=norm.axes, keepdims=True))
    spare = np.maximum(norm.root - size, TINY)
    made: Array = each / spare + np.abs(norm.less_mean) * size / (norm.root * spare)
    return made
