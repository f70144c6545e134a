"""What was proved of a layer on codes, in one word for the report."""

from __future__ import annotations

from tilewright.ops.codes import Interpolates, Mean, Pairwise, Products
from tilewright.ops.fixed.tensors import is_fixed
from tilewright.ops.operator import Call
from tilewright.ops.quantised.add import pair_form
from tilewright.ops.quantised.linear import proof, wraps
from tilewright.ops.quantised.mean import mean_proof, window_counts
from tilewright.ops.quantised.resize import resize_form, resize_proof


def quantised_numerics(call: Call) -> str | None:
    """`proved`: the 32-bit form equals the semantics on every reachable value; `exact_sequence`; None for others.

    For Add, Sub and Mul `proved` means compared over every pair of codes, or scales that are powers of two.
    """
    first = call.optional(0)
    if first is None or first.quantisation is None or call.outputs[0].quantisation is None or is_fixed(first):
        return None
    match call.codes:
        case Products():
            return "exact_sequence" if wraps(call) else proof(call).status
        case Mean():
            statuses = {mean_proof(call, int(count)).status for count in window_counts(call).tolist()}
            return "proved" if statuses == {"proved"} else "exact_sequence"
        case Interpolates() if (form := resize_form(call)) is not None:
            return resize_proof(call, form).status
        case Pairwise(factored=True) if call.operator is not None and pair_form(call.operator, call) is not None:
            return "proved"
    return None
