"""Fuses Relu and Clip, also where written as Min and Max with a constant, into the node that computes their input."""

from __future__ import annotations

from dataclasses import replace

from tilewright.model import Clamp, Model, Node
from tilewright.ops.codes import Moves
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find
from tilewright.passes.edit import Edit

name = "activation"


def apply(model: Model) -> Model:
    """Give producers with a single reader the limits of that reader."""
    edit = Edit(model)
    for node in edit.nodes():
        limited = limits(edit, node)
        if limited is None:
            continue
        source, low, high = limited
        views, before = _through_views(edit, node, source)
        if before is None or not _clamps(before) or len(before.outputs) != 1:
            continue
        if edit.is_float(source, *node.outputs):
            _limit(edit, before, views, node, _combined(before.clamp, low, high))
    return edit.result()


def _clamps(node: Node) -> bool:
    operator = find(node.op, node.domain)
    return operator is not None and operator.clamps


def _shows_all(node: Node) -> bool:
    """True for a view of every element of its operand."""
    operator = find(node.op, node.domain)
    return operator is not None and operator.kind is Kind.VIEW and isinstance(operator.codes_of(node), Moves)


def _through_views(edit: Edit, node: Node, source: str) -> tuple[list[Node], Node | None]:
    """Views between the node and what computes its input, nearest first; None where something else reads on the way."""
    views: list[Node] = []
    reader = node
    while edit.sole_reader(source, reader):
        before = edit.writer(source)
        if before is None or not _shows_all(before) or len(before.outputs) != 1:
            return views, before
        views.append(before)
        reader, source = before, before.inputs[0]
    return views, None


def _limit(edit: Edit, before: Node, views: list[Node], node: Node, clamp: Clamp) -> None:
    """Clamp what `before` computes. The tensors on the way hold other values now, so they get new names."""
    outputs = node.outputs
    for view in views:
        limited = edit.add_tensor(f"{view.inputs[0]}/limited", edit.tensors[view.inputs[0]])
        edit.replace(view, replace(view, inputs=(limited, *view.inputs[1:]), outputs=outputs))
        outputs = (limited,)
    edit.replace(before, replace(before, outputs=outputs, clamp=clamp))
    edit.replace(node)


def limits(edit: Edit, node: Node) -> tuple[str, float, float] | None:
    """The tensor that the node limits and the bounds; None where it does more, or a bound is no constant."""
    operator = find(node.op, node.domain)
    if operator is None or operator.limit is None or node.clamp is not None:
        return None
    bounds = operator.limit(edit.call(node))
    return None if bounds is None else (node.inputs[bounds.operand], bounds.low, bounds.high)


def _combined(clamp: Clamp | None, low: float, high: float) -> Clamp:
    """`clamp` first, then the limits."""
    if clamp is None:
        return Clamp(low, high)
    return Clamp(min(max(clamp.low, low), high), max(min(clamp.high, high), low))
