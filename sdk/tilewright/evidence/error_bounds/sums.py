"""Sums of products with constant weights: Conv, Gemm, MatMul.

A sum of n products and a start, in any order, with fused products or without, passes at most n + 1 roundings a term:
|computed - exact| <= gamma_(n+1) (|start| + sum |w| |x|) (Higham 2002, section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tilewright.evidence.error_bounds.value import DOUBLE, TINY, UNIT, Back, Known, NoBound, Step, gamma
from tilewright.model import Array
from tilewright.ops.conv import conv_sum, conv_window
from tilewright.ops.index.fast import last_axes
from tilewright.ops.operator import Call
from tilewright.ops.window import padded, tap_view

RULE = "gamma_{n} * (|start| + sum |w| |x|) for {products} products added in any order"


@dataclass(frozen=True)
class Linear:
    """A linear map: how it is applied with weights, its weights, what is added, products of one result, its adjoint.

    `apply` takes one value, `ahead` several along a first axis.
    """

    apply: Callable[[Array, Array], Array]
    weights: Array
    start: Array
    products: int
    back: Back
    ahead: Callable[[Array], Array]
    roundings: int = 1


def linear_step(map_: Linear, x: Known) -> Step:
    """The step of a linear map over one operand."""
    absolute, start = np.abs(map_.weights), map_.start
    centre, radius = map_.apply(x.centre, map_.weights) + start, map_.apply((x.high - x.low) / 2, absolute)
    total = np.abs(start) + map_.apply(x.magnitude, absolute)
    roundings = map_.products + map_.roundings
    rounding = gamma(roundings) * total + roundings * TINY
    spread = np.sqrt(roundings + 1.0) * UNIT * (1 + gamma(roundings)) * total + np.sqrt(roundings) * TINY
    lost = (roundings + 4) * DOUBLE * total
    return Step(
        centre - radius - lost, centre + radius + lost, [x.error],
        lambda errors: map_.apply(errors[0], absolute), rounding, spread, np.zeros_like(rounding),
        lambda rows: map_.ahead(rows[0]), map_.back, RULE.format(n=roundings, products=map_.products),
    )  # fmt: skip


def conv(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Conv with constant weights."""
    if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
        return NoBound("its weights are computed at run time")
    weights, bias = call.constants[1].astype(np.float64), call.constants.get(2)
    shape = (-1, *(1,) * (weights.ndim - 2))
    start = np.zeros(1) if bias is None else bias.astype(np.float64)
    map_ = Linear(
        lambda x, w: conv_sum(call, x, w), weights, start.reshape(shape), weights[0].size,
        partial(_conv_back, call, weights), lambda rows: _by_row(lambda x: conv_sum(call, x, weights), rows),
    )  # fmt: skip
    return linear_step(map_, operands[0])


def _by_row(apply: Callable[[Array], Array], rows: Array) -> Array:
    """A map of batches, over rows of batches."""
    made = apply(rows.reshape(-1, *rows.shape[2:]))
    return made.reshape(*rows.shape[:2], *made.shape[1:])


def _conv_back(call: Call, weights: Array, rows: Array) -> Sequence[Array | None]:
    """The adjoint of a convolution: rows [k, n, channels, *outs] to [k, n, inputs, *sizes]."""
    window, groups, shape = conv_window(call), call.integer("group", 1), call.shape(0)
    flat = rows.reshape(-1, *rows.shape[2:])
    source = padded(np.zeros((flat.shape[0], *shape[1:])), window, 0)
    parts = flat.reshape(flat.shape[0], groups, -1, *flat.shape[2:])
    split = weights.reshape(groups, -1, *weights.shape[1:])
    for tap in window.taps():
        kernel = last_axes(split, *tap)
        moved = np.matmul(np.swapaxes(kernel, 1, 2), parts.reshape(*parts.shape[:3], -1))
        tap_view(source, window, tap)[...] += moved.reshape(flat.shape[0], shape[1], *window.outs)
    inside = tuple(slice(low, low + size) for low, size in zip(window.begins, shape[2:], strict=True))
    return [last_axes(source, *inside).reshape(rows.shape[0], *shape)]


def gemm(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Gemm with constant B and C."""
    if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
        return NoBound("its weights are computed at run time")
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    matrix = call.constants[1].astype(np.float64) * alpha
    matrix = matrix.T if call.integer("transB", 0) else matrix
    bias = call.constants.get(2)
    start = np.zeros(1) if bias is None else bias.astype(np.float64) * beta
    turned = bool(call.integer("transA", 0))
    scaled = int(alpha != 1.0) + int(beta != 1.0)

    def apply(x: Array, w: Array) -> Array:
        return (x.T if turned else x) @ w

    def back(rows: Array) -> Sequence[Array | None]:
        moved = rows @ matrix.T
        return [np.swapaxes(moved, 1, 2) if turned else moved]

    def ahead(rows: Array) -> Array:
        return (np.swapaxes(rows, 1, 2) if turned else rows) @ matrix

    return linear_step(Linear(apply, matrix, start, matrix.shape[0], back, ahead, 1 + scaled), operands[0])


def matmul(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """MatMul with a constant matrix on the right."""
    matrix = call.constants.get(1)
    if matrix is None or matrix.ndim != 2 or len(call.shape(0)) < 2:
        return NoBound("both factors are computed at run time, or one is no matrix")
    right = matrix.astype(np.float64)
    map_ = Linear(
        lambda x, w: x @ w, right, np.zeros(1), right.shape[0], lambda rows: [rows @ right.T],
        lambda rows: rows @ right, 0,
    )  # fmt: skip
    return linear_step(map_, operands[0])
