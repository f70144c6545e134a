"""Merges Mul and Add by constants that follow one another: Mul before Add, at most one of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.edit import Edit

name = "chain"


def apply(model: Model) -> Model:
    """`(x * a + b) * c + d` becomes `x * ac + (bc + d)` where the new constants are not larger than the old ones."""
    edit = Edit(model)
    for node in edit.nodes():
        second = _constant_operand(edit, node)
        before = edit.writer(second[0]) if second else None
        if second is None or before is None or before.clamp or not edit.sole_reader(second[0], node):
            continue
        first = _constant_operand(edit, before)
        if first is not None:
            _merge(edit, before, node, first, second)
    return edit.result()


def _constant_operand(edit: Edit, node: Node) -> tuple[str, Array] | None:
    """The other operand and the constant of a Mul or Add on plain floats that keeps the other operand's shape."""
    if node.op not in ("Mul", "Add") or node.domain or len(node.inputs) != 2:
        return None
    if not edit.is_float(*node.inputs, *node.outputs):
        return None
    values = [edit.constant(node, index) for index in (0, 1)]
    for index, value in enumerate(values):
        other = node.inputs[1 - index]
        same = edit.tensors[other].shape == edit.tensors[node.outputs[0]].shape
        if value is not None and values[1 - index] is None and same:
            return other, value
    return None


def _merge(edit: Edit, before: Node, node: Node, first: tuple[str, Array], second: tuple[str, Array]) -> None:
    source, inner = first
    outer = second[1]
    limit = max(inner.size, outer.size)
    if int(np.prod(np.broadcast_shapes(inner.shape, outer.shape))) > limit:
        return
    wide = [inner.astype(np.float64), outer.astype(np.float64)]
    dtype = edit.tensors[source].dtype.numpy
    with np.errstate(all="ignore"):
        merged = (wide[0] + wide[1] if node.op == before.op == "Add" else wide[0] * wide[1]).astype(dtype)
    if not np.all(np.isfinite(merged)):
        return
    if node.op == before.op:
        constant = edit.add_constant(f"{node.name}/merged", merged)
        edit.replace(node, replace(node, inputs=(source, constant)))
        edit.replace(before)
    elif node.op == "Mul":
        scaled = edit.add_tensor(f"{node.name}/scaled", edit.tensors[source])
        factor, shift = edit.add_constant(f"{node.name}/scale", outer), edit.add_constant(f"{node.name}/shift", merged)
        edit.replace(
            before,
            replace(before, op="Mul", inputs=(source, factor), outputs=(scaled,)),
            Node(edit.node_name(f"{node.name}/add"), "Add", (scaled, shift), node.outputs, clamp=node.clamp),
        )
        edit.replace(node)
