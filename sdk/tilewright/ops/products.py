"""How much an operator multiplies."""

from __future__ import annotations

from tilewright.ops.operator import Call


def multiply_accumulates(call: Call) -> int:
    """Points of the sums of products in the operator's index maps; 0 for operators without any."""
    return sum(n.points for n in call.nests if n.combine.name == "add" and n.body.name.startswith("mul"))


def pairs(call: Call) -> int:
    """At most what an operator multiplies that may pair every element of operand 0 with every one of operand 1."""
    others = call.optional(1) if len(call.inputs) > 1 else None
    return 0 if others is None else call.tensor(0).elements * others.elements
