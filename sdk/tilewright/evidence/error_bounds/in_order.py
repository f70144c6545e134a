"""Sums whose order is known: roundings by the partial sums that they are of, not by the sum of all magnitudes.

A kernel that adds products one behind the other rounds u |s_k| at the k-th sum and u |w_k x_k| at its product, none of
the latter where both are fused (Higham 2002, section 3.3: running error analysis). Signs of products make partial
sums far smaller than sums of magnitudes. What operands and sums are off themselves is added to each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tilewright.evidence.error_bounds.value import SLACK, TINY, UNIT, Known, Step
from tilewright.model import Array
from tilewright.ops.conv import conv_window
from tilewright.ops.index.fast import last_axes
from tilewright.ops.operator import Call
from tilewright.ops.window import padded, tap_view

RULE = "u * (sum of |partial sums| + sum |w| |x|) for {products} products added in the order of the kernel"


def in_order(call: Call, x: Known, step: Step) -> Step:
    """The step of a sum with constant weights whose kernel adds start, places of the window, and channels in order."""
    if call.node.op == "Conv":
        start, products = _conv(call, x.centre)
    elif call.real("alpha", 1.0) == call.real("beta", 1.0) == 1.0 and not call.integer("transA", 0):
        start, products = _product(call, x.centre)
    else:
        return step
    partial = np.broadcast_to(start, step.low.shape).copy()
    sums, squares, terms, count = np.zeros_like(partial), np.zeros_like(partial), np.zeros_like(partial), 0
    for product in products:
        partial += product
        sums += np.abs(partial)
        terms += np.abs(product)
        squares += partial**2 + product**2
        count += 1
    radius = (step.high - step.low) / 2
    off = radius + step.carried + step.rounding
    rounding = UNIT * (sums + terms + (count + 1) * off) * (1 + SLACK) + 2 * count * TINY
    spread = UNIT * (np.sqrt(squares) + np.sqrt(2.0 * count) * off) * (1 + SLACK) + 2 * count * TINY
    return replace(
        step, rounding=np.minimum(rounding, step.rounding), spread=np.minimum(spread, step.spread),
        rule=RULE.format(products=count),
    )  # fmt: skip


def _conv(call: Call, x: Array) -> tuple[Array, Iterator[Array]]:
    """What a convolution starts from, and its products: place by place, then channel by channel of a group."""
    weights, bias = call.constants[1].astype(np.float64), call.constants.get(2)
    window, groups = conv_window(call), call.integer("group", 1)
    ones = (1,) * len(window.outs)
    source = padded(x, window, 0)
    split = weights.reshape(groups, -1, *weights.shape[1:])

    def products() -> Iterator[Array]:
        for tap in window.taps():
            seen = tap_view(source, window, tap).reshape(x.shape[0], groups, 1, -1, *window.outs)
            kernel = last_axes(split, *tap)
            for channel in range(weights.shape[1]):
                factors = kernel[..., channel].reshape(1, groups, -1, *ones)
                yield (seen[:, :, :, channel] * factors).reshape(x.shape[0], weights.shape[0], *window.outs)

    return (np.zeros(1) if bias is None else bias.astype(np.float64).reshape(-1, *ones)), products()


def _product(call: Call, x: Array) -> tuple[Array, Iterator[Array]]:
    """What a matrix product starts from, and its products, input by input."""
    matrix, bias = call.constants[1].astype(np.float64), call.constants.get(2)
    matrix = matrix.T if call.integer("transB", 0) else matrix
    products = (x[..., row, None] * matrix[row] for row in range(matrix.shape[0]))
    return (np.zeros(1) if bias is None else bias.astype(np.float64)), products
