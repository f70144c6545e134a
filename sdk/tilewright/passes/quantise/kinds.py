"""What nodes do on codes, as their operators say."""

from __future__ import annotations

from tilewright.model import Model, Node
from tilewright.ops.codes import (
    Converts,
    Exponentials,
    Interpolates,
    Mean,
    Moves,
    Normalises,
    Pairwise,
    Products,
    Table,
)
from tilewright.ops.registry import codes_of
from tilewright.passes.quantise.graph import Graph


def computes(node: Node) -> bool:
    """True where the operator has an integer form of its own, or becomes a table."""
    return isinstance(codes_of(node), Products | Mean | Exponentials | Normalises | Interpolates | Pairwise | Table)


def products(node: Node) -> Products | None:
    """What the operator says of its sums of products; None for all others."""
    codes = codes_of(node)
    return codes if isinstance(codes, Products) else None


def moves(node: Node) -> Moves | None:
    """Which values the operator moves or selects, so that it does the same to codes; None for all others."""
    codes = codes_of(node)
    return codes if isinstance(codes, Moves) else None


def limits(node: Node) -> bool:
    """True for a monotone limit, which becomes the clamp of the operator before it."""
    return codes_of(node) == Table(limits=True)


def pads_with_zero(graph: Graph, node: Node) -> bool:
    """True for a Pad whose fill is the real 0 or a copy of its edge, so that its codes need no other constant."""
    if node.op != "Pad" or node.attributes.get("mode", "constant") != "constant":
        return True
    if len(node.inputs) > 2 and node.inputs[2]:
        value = graph.value(node.inputs[2])
        return value is not None and not value.any()
    return not node.attributes.get("value", 0.0)


def has_quantisation(model: Model) -> bool:
    """True where the model holds quantising nodes at all."""
    return any(isinstance(codes_of(node), Converts) for node in model.nodes)
