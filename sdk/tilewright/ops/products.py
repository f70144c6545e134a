"""How much an operator multiplies, as its index maps tell."""

from __future__ import annotations

from tilewright.ops.operator import Call


def multiply_accumulates(call: Call) -> int:
    """Points of the sums of products in the operator's index maps; 0 for operators without any."""
    return sum(n.points for n in call.nests if n.combine.name == "add" and n.body.name.startswith("mul"))
