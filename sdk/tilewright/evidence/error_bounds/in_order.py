"""Sums whose order is known: roundings by the partial sums that they are of, not by the sum of all magnitudes.

A kernel that adds terms one behind the other rounds once at every partial sum and once at every product, none of the
latter where both are fused (Higham 2002, section 3.3: running error analysis). Signs of terms make partial sums far
smaller than sums of magnitudes; rounding to nearest moves a value by half the distance of its neighbours at most; a
term that is zero for certain rounds nothing. What operands and sums are off themselves is added to each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.evidence.error_bounds.rules import MEANS
from tilewright.evidence.error_bounds.value import SLACK, TINY, UNIT, Known, Step
from tilewright.model import Array
from tilewright.ops.conv import conv_window
from tilewright.ops.index.fast import last_axes
from tilewright.ops.operator import Call
from tilewright.ops.pool import average_pool_sum, pool_window
from tilewright.ops.window import padded, tap_view

RULE = "half the distance of floats at each of {terms} partial sums{products}, added in the order of the kernel"


@dataclass(frozen=True)
class Sum:
    """A sum as a kernel computes it: what it starts from, its terms one by one, and what divides it in the end.

    Without `counts` the terms are products of `x` with weights, with them elements as they are.
    """

    start: Array
    terms: Iterator[Array]
    counts: Array | None


Of = Callable[[Array], Array]
"""What is taken of the weights: themselves, their sizes, or where they are."""
Order = Sequence[int]
"""The inputs of a matrix product as they lie in memory, the terms of a convolution as they are added; empty where
inputs lie one behind the other, and where a convolution adds place by place, in each the channels."""


def sum_of(call: Call, x: Array, order: Order, of: Of = np.asarray) -> Sum | None:
    """The sum of a call over its operand, in doubles; None for what no kernel declares an order of."""
    if call.node.op == "Conv":
        return _conv(call, x, order, of)
    if call.node.op in MEANS:
        return _mean(call, x)
    if call.real("alpha", 1.0) == call.real("beta", 1.0) == 1.0 and not call.integer("transA", 0):
        return _product(call, x, order, of)
    return None


def in_order(call: Call, x: Known, step: Step, order: Order = ()) -> Step:
    """The step of a sum whose kernel adds start, places of the window, and channels in order."""
    exact, reach = sum_of(call, x.centre, order), sum_of(call, x.error + (x.high - x.low) / 2, order, np.abs)
    present = sum_of(call, (x.magnitude > 0).astype(np.float64), order, lambda w: (w != 0).astype(np.float64))
    if exact is None or reach is None or present is None:
        return step
    partial = np.broadcast_to(exact.start, step.low.shape).copy()
    size = np.abs(partial)
    sums, squares, off, count = np.zeros_like(partial), np.zeros_like(partial), np.zeros_like(partial), 0
    for term, moved, adds in zip(exact.terms, reach.terms, present.terms, strict=True):
        partial += term
        size += np.abs(term) + moved
        factor = half_distance(np.abs(term) + moved) * adds if exact.counts is None else np.zeros(1)
        off += moved + factor
        total = half_distance(np.abs(partial) + off + SLACK * size) * adds
        off += total
        sums += factor + total
        squares += factor**2 + total**2
        count += 1
    if exact.counts is not None:
        last = half_distance((np.abs(partial) + off + SLACK * size) / exact.counts)
        sums, squares = sums / exact.counts + last, squares / exact.counts**2 + last**2
    rounding, spread = sums * (1 + SLACK), np.sqrt(squares) * (1 + SLACK)
    products = " and products" if exact.counts is None else " and at the quotient"
    return replace(
        step, rounding=np.minimum(rounding, step.rounding), spread=np.minimum(spread, step.spread),
        rule=RULE.format(terms=count, products=products),
    )  # fmt: skip


def half_distance(size: Array) -> Array:
    """What rounding to float32 moves a value of at most this size by: half the distance of neighbours there."""
    _, exponent = np.frexp(size * (1 + SLACK))
    half: Array = np.maximum(np.ldexp(UNIT, exponent - 1), TINY)
    return half


def by_planes(weights: Array) -> Order:
    """The terms of a convolution channel by channel of a group, in each place by place of the window."""
    channels = weights.shape[1]
    places = math.prod(weights.shape[2:])
    return [place * channels + channel for channel in range(channels) for place in range(places)]


def _conv(call: Call, x: Array, order: Order, of: Of) -> Sum:
    """Place by place, then channel by channel of a group, where no other order is given."""
    weights, bias = of(call.constants[1].astype(np.float64)), call.constants.get(2)
    window, groups = conv_window(call), call.integer("group", 1)
    ones = (1,) * len(window.outs)
    source = padded(x, window, 0)
    split = weights.reshape(groups, -1, *weights.shape[1:])

    def products() -> Iterator[Array]:
        taps, channels = list(window.taps()), weights.shape[1]
        for term in order or range(len(taps) * channels):
            tap, channel = taps[term // channels], term % channels
            seen = tap_view(source, window, tap).reshape(x.shape[0], groups, 1, -1, *window.outs)
            factors = last_axes(split, *tap)[..., channel].reshape(1, groups, -1, *ones)
            yield (seen[:, :, :, channel] * factors).reshape(x.shape[0], weights.shape[0], *window.outs)

    return Sum(np.zeros(1) if bias is None else bias.astype(np.float64).reshape(-1, *ones), products(), None)


def _product(call: Call, x: Array, order: Order, of: Of) -> Sum:
    """Input by input, as they lie in memory."""
    matrix, bias = of(call.constants[1].astype(np.float64)), call.constants.get(2)
    matrix = matrix.T if call.integer("transB", 0) else matrix
    products = (x[..., row, None] * matrix[row] for row in order or range(matrix.shape[0]))
    return Sum(np.zeros(1) if bias is None else bias.astype(np.float64), products, None)


def _mean(call: Call, x: Array) -> Sum:
    """Place by place of the window."""
    window = pool_window(call)
    _, counts = average_pool_sum(call, np.zeros(call.shape(0)))
    source = padded(x, window, 0)
    terms = (tap_view(source, window, tap) for tap in window.taps())
    return Sum(np.zeros(1), terms, np.asarray(counts, np.float64))
