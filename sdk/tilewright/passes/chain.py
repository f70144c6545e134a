"""Merges Mul and Add by constants that follow one another: Mul before Add, at most one of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.affine import narrowed, other_and_constant
from tilewright.passes.edit import Edit

name = "chain"

_OPS = frozenset({"Mul", "Add"})


def apply(model: Model) -> Model:
    """`(x * a + b) * c + d` becomes `x * ac + (bc + d)` where the new constants are not larger than the old ones."""
    edit = Edit(model)
    for node in edit.nodes():
        second = other_and_constant(edit, node, _OPS)
        before = edit.writer(second[0]) if second else None
        if second is None or before is None or before.clamp or not edit.sole_reader(second[0], node):
            continue
        first = other_and_constant(edit, before, _OPS)
        if first is not None:
            _merge(edit, before, node, first, second)
    return edit.result()


def _merge(edit: Edit, before: Node, node: Node, first: tuple[str, Array], second: tuple[str, Array]) -> None:
    source, inner = first
    outer = second[1]
    limit = max(inner.size, outer.size)
    if int(np.prod(np.broadcast_shapes(inner.shape, outer.shape))) > limit:
        return
    wide = [inner.astype(np.float64), outer.astype(np.float64)]
    both_add = node.op == before.op == "Add"
    merged = narrowed(wide[0] + wide[1] if both_add else wide[0] * wide[1], edit.tensors[source].dtype.numpy)
    if merged is None:
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
