"""What was proved of a layer on codes, in one word for the report."""

from __future__ import annotations

from tilewright.ops.operator import Call
from tilewright.ops.quantised.add import OPERATORS_WITH_FORM, pair_form
from tilewright.ops.quantised.linear import proof
from tilewright.ops.quantised.mean import mean_proof, window_counts
from tilewright.ops.quantised.resize import interpolates, resize_form, resize_proof

LINEAR = ("Conv", "ConvTranspose", "Gemm", "MatMul")
MEANS = ("AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum")


def quantised_numerics(call: Call) -> str | None:
    """`proved`: the 32-bit form equals the semantics on every reachable value; `exact_sequence`; None for others.

    For Add, Sub and Mul `proved` means compared over every pair of codes.
    """
    first = call.optional(0)
    if call.node.domain or first is None or first.quantisation is None or call.outputs[0].quantisation is None:
        return None
    if call.node.op in LINEAR:
        return proof(call).status
    if call.node.op in MEANS:
        found = {mean_proof(call, int(count)).status for count in window_counts(call).tolist()}
        return "proved" if found == {"proved"} else "exact_sequence"
    if interpolates(call) and (form := resize_form(call)) is not None:
        return resize_proof(call, form).status
    if call.node.op in OPERATORS_WITH_FORM and call.operator is not None and pair_form(call.operator, call) is not None:
        return "proved"
    return None
