"""Drops nodes that no output depends on, and outputs of nodes that nobody reads where the operator can omit them."""

from __future__ import annotations

from dataclasses import replace

from tilewright.model import Model, Node
from tilewright.ops.registry import find


def prune(model: Model) -> Model:
    """The model without what its outputs do not need; the same object where nothing is superfluous."""
    needed = set(model.outputs)
    needed_nodes: list[Node] = []
    for node in reversed(model.nodes):
        if needed.intersection(node.outputs):
            node = _trimmed(node, needed)
            needed_nodes.append(node)
            needed.update(node.inputs)
    nodes = tuple(reversed(needed_nodes))
    unchanged = len(nodes) == len(model.nodes) and all(new is old for new, old in zip(nodes, model.nodes, strict=True))
    named = needed.union(model.inputs, *(node.outputs for node in nodes))
    return model if unchanged and named.issuperset(model.tensors) else model.replace(nodes=nodes)


def _trimmed(node: Node, needed: set[str]) -> Node:
    operator = find(node.op, node.domain)
    required = operator.required_results if operator is not None else None
    first = len(node.outputs) if required is None else required
    outputs = [name if i < first or name in needed else "" for i, name in enumerate(node.outputs)]
    while not outputs[-1]:
        outputs.pop()
    return (
        node
        if len(outputs) == len(node.outputs) and tuple(outputs) == node.outputs
        else replace(node, outputs=tuple(outputs))
    )
