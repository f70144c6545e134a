"""Roundings that are known: what float32 gives bit for bit, where a kernel adds in an order that it declares.

At one vector nothing of such a sum is open but whether products are fused with sums. Its error is then a number with a
sign, and errors of several places cancel on their way to the outputs as they do on the target.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.evidence.error_bounds.in_order import Order, sum_of
from tilewright.evidence.error_bounds.moves import moves
from tilewright.evidence.error_bounds.rules import ROUNDED_ONCE
from tilewright.evidence.error_bounds.value import SLACK, Step
from tilewright.model import Array
from tilewright.ops.operator import Call


def replayed(call: Call, operands: Sequence[Array], order: Order | None, *, fused: bool) -> Array | None:
    """The result of a call, of operands that are known bit for bit; None where its roundings are not known.

    `order` is that of its sums, None where its kernel declares none.
    """
    from tilewright.plan.execute import evaluate_call

    if order is not None:
        result = _summed(call, operands[0], order, fused)
    elif call.node.op in ROUNDED_ONCE or moves(call):
        result = evaluate_call(call, list(operands))[0]
    else:
        return None
    if result is None or not np.isfinite(result).all():
        return None
    clamp = call.node.clamp
    return result if clamp is None else np.clip(result, np.float32(clamp.low), np.float32(clamp.high))


def _summed(call: Call, x: Array, order: Order, fused: bool) -> Array | None:
    """Terms added one behind the other in float32."""
    from_start = sum_of(call, x.astype(np.float64), order)
    if from_start is None:
        return None
    total: Array = np.broadcast_to(from_start.start.astype(np.float32), call.outputs[0].shape)
    with np.errstate(over="ignore", invalid="ignore"):
        for term in from_start.terms:  # the product of two floats is exact in doubles
            total = fused_sum(total, term) if fused else total + term.astype(np.float32)
        if from_start.counts is not None:
            total = total / from_start.counts.astype(np.float32)
    return total


def fused_sum(total: Array, product: Array) -> Array:
    """A sum rounded once: in doubles to an odd last bit, so that rounding again to float32 is as if it were once
    (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008)."""
    wide = total.astype(np.float64)
    added = wide + product
    back = added - wide
    lost = (wide - (added - back)) + (product - back)
    bits = added.view(np.int64)
    step = np.where((lost > 0) == (added > 0), 1, -1)
    odd: Array = np.where((lost != 0) & (bits % 2 == 0), bits + step, bits)
    return odd.view(np.float64).astype(np.float32)


def known_step(step: Step, result: Array) -> Step:
    """The step of a node whose result is known: its error is a number, up to what the exact values are not known by."""
    shift, radius = result.astype(np.float64) - (step.low + step.high) / 2, (step.high - step.low) / 2
    nothing = np.zeros_like(shift)
    own = radius + SLACK * np.abs(shift)
    return Step(
        step.low, step.high, [], lambda errors: nothing, nothing, nothing, own, lambda rows: nothing[None],
        lambda rows: [], "known: computed again in the order of the kernel, every rounding of it", shift,
    )  # fmt: skip
