"""Nodes in the order that keeps the fewest bytes alive, where that is better than the model's own order.

Views share the bytes of what they show and follow it; an elementwise node may write over an operand that dies there.
"""

from __future__ import annotations

from tilewright.memory.reorder import OrderNode, OrderProblem, reorder
from tilewright.model import Model, Node
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find

name = "reorder"


def apply(model: Model) -> tuple[Model, int]:
    """The model with its nodes in the better order, and the bytes by which the peak of live tensors falls."""
    roots: dict[str, str] = {}
    followers: dict[str, list[Node]] = {}
    nodes: list[Node] = []
    for node in model.nodes:
        operator = find(node.op, node.domain)
        source = node.inputs[0] if node.inputs else ""
        if operator is not None and operator.kind is Kind.VIEW and source not in model.constants and source:
            roots[node.outputs[0]] = roots.get(source, source)
            followers.setdefault(source, []).append(node)
        else:
            nodes.append(node)
    order = reorder(_problem(model, nodes, roots))
    if order.peak >= order.model_peak:
        return model, 0
    by_name = {node.name: node for node in nodes}
    placed: list[Node] = []
    for found in order.nodes:
        _place(by_name[found], followers, placed)
    first = [node for source in model.inputs for node in _views_of(source, followers)]
    return model.replace(nodes=(*first, *placed)), order.model_peak - order.peak


def _place(node: Node, followers: dict[str, list[Node]], placed: list[Node]) -> None:
    placed.append(node)
    for output in node.outputs:
        placed.extend(_views_of(output, followers))


def _views_of(source: str, followers: dict[str, list[Node]]) -> list[Node]:
    """The views of a tensor and theirs, in order."""
    found: list[Node] = []
    for view in followers.get(source, []):
        found.append(view)
        found += _views_of(view.outputs[0], followers)
    return found


def _problem(model: Model, nodes: list[Node], roots: dict[str, str]) -> OrderProblem:
    def runtime(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(roots.get(n, n) for n in names if n and n not in model.constants))

    found = []
    for node in nodes:
        reads, writes = runtime(node.inputs), tuple(n for n in node.outputs if n)
        size = model.tensors[writes[0]].size_bytes
        over = [n for n in reads if model.tensors[n].size_bytes == size] if _elementwise(model, node) else []
        found.append(OrderNode(node.name, reads, writes, in_place=tuple((n, writes[0]) for n in over)))
    named = {n for node in found for n in (*node.reads, *node.writes)} | {*model.inputs}
    kept = frozenset(roots.get(n, n) for n in model.outputs if n not in model.constants)
    return OrderProblem(tuple(found), {n: model.tensors[n].size_bytes for n in sorted(named)}, kept)


def _elementwise(model: Model, node: Node) -> bool:
    """True where every operand of the result's size has its shape: index maps of such nodes are the identity."""
    shape = model.tensors[node.outputs[0]].shape
    moving = [model.tensors[n].shape for n in node.inputs if n and n not in model.constants]
    return node.op in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Relu", "Clip", "Sigmoid", "Tanh") and shape in moving
