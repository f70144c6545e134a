"""Kernels that want constants as another network already keeps them come first.

Two networks of one image often multiply by the same weights, for one row and for many. Kernels for one and for many
may want them in different orders of memory, and then the image holds them twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from tilewright.binding.graph import Candidate
from tilewright.binding.layouts import demanded
from tilewright.binding.order import Order
from tilewright.layout import Layout
from tilewright.ops.operator import Call
from tilewright.platform import Constant, Operands

LEAST_BYTES = 64
"""Smaller constants are no reason for another kernel."""
SLOWEST = 2.0
"""A kernel with constants that are known may cost so many times as much as the cheapest."""
Form = tuple[str, str]
"""Element type and SHA-256 of the bytes of an array."""


def form_of(constant: Constant) -> Form:
    """What two arrays have in common that can be one."""
    values = constant.values.astype(constant.dtype.numpy, copy=False)
    return constant.dtype.value, hashlib.sha256(values.tobytes()).hexdigest()


def known_first(forms: Collection[Form], order: Order) -> Order:
    """The order, but kernels all of whose larger constants are known stand before those that would add one.

    What declares no cost, or more than `SLOWEST` times that of the first, stays behind it.
    """

    def sort(call: Call, accepted: Sequence[Candidate]) -> Sequence[Candidate]:
        ordered = order(call, accepted)
        if len(ordered) < 2 or not call.constants:
            return ordered
        cheapest = ordered[0].kernel.declared_cost(call)
        known = [c for c in ordered if _cheap(call, c, cheapest) and _known(call, c, forms)]
        return (*known, *(candidate for candidate in ordered if candidate not in known))

    return sort


def _cheap(call: Call, candidate: Candidate, cheapest: float | None) -> bool:
    cost = candidate.kernel.declared_cost(call)
    return cost is not None and cheapest is not None and cost <= SLOWEST * cheapest


def _known(call: Call, candidate: Candidate, forms: Collection[Form]) -> bool:
    tensors = [tensor for tensor in (*call.inputs, *call.outputs) if tensor is not None]
    layouts = {tensor.name: Layout.default(tensor.shape) for tensor in tensors}
    operands = Operands(call, {**layouts, **demanded(candidate.kernel.layout, call, layouts)})
    large = [one for one in candidate.kernel.constants(operands) if one.size_bytes >= LEAST_BYTES]
    return bool(large) and all(form_of(one) in forms for one in large)
