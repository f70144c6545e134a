"""How much an operator multiplies."""

from __future__ import annotations

from tilewright.ops.operator import Call


def multiply_accumulates(call: Call) -> int:
    """Products that are summed: points of such index maps, or as the operator counts them; of a chain all of it."""
    if call.chain:
        return sum(multiply_accumulates(one) for one in call.chain)
    if call.operator is not None and call.operator.products is not None:
        return call.operator.products(call)
    return sum(n.points for n in call.nests if n.combine.name == "add" and n.body.name.startswith("mul"))


def units_of_work(call: Call) -> int:
    """Multiply-accumulates, or elements of the results of an operator that multiplies nothing; at least 1."""
    return max(multiply_accumulates(call) or sum(tensor.elements for tensor in call.outputs), 1)


def kind_of_products(call: Call) -> str:
    """What an operator multiplies: `dense`, `grouped` or `depthwise` in a convolution; rows by `weights`, one `row` by
    weights or `two operands` in a matrix product; empty elsewhere."""
    if call.node.op in ("Conv", "ConvTranspose"):
        groups = call.integer("group", 1)
        if groups == 1:
            return "dense"
        return "depthwise" if groups == call.shape(0)[1] else "grouped"
    if call.node.op in ("MatMul", "Gemm") and len(call.inputs) > 1:
        constant = [call.tensor(index) for index in (0, 1) if index in call.constants]
        if not constant:
            return "two operands"
        return "row" if multiply_accumulates(call) <= constant[0].elements else "weights"
    return ""


def pairs(call: Call) -> int:
    """At most what an operator multiplies that may pair every element of operand 0 with every one of operand 1."""
    others = call.optional(1) if len(call.inputs) > 1 else None
    return 0 if others is None else call.tensor(0).elements * others.elements
