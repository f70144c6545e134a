"""Removes what computes nothing: Identity, Dropout, casts to the same type, views and moves that keep every element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node, Tensor
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find
from tilewright.ops.transpose import permutation
from tilewright.passes.edit import Edit

name = "identity"


def apply(model: Model) -> Model:
    """Cancel no-ops, merge Transposes and views that follow one another."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.inputs and node.inputs[0] and node.outputs[0] and not any(node.outputs[1:]):
            merged = _merged(edit, node)
            if merged is not node:
                edit.replace(node, merged)
            if _keeps_everything(edit, merged):
                _cancel(edit, merged)
    return edit.result()


def _ends(edit: Edit, node: Node) -> tuple[Tensor, Tensor]:
    return edit.tensors[node.inputs[0]], edit.tensors[node.outputs[0]]


def _keeps_everything(edit: Edit, node: Node) -> bool:
    source, target = _ends(edit, node)
    if (source.dtype, source.shape, source.quantisation) != (target.dtype, target.shape, target.quantisation):
        return False
    call = edit.call(node)
    if node.clamp is not None or call.operator is None or call.operator.keeps is None:
        return False
    return call.operator.keeps(call)


def _shows(node: Node) -> bool:
    """True for another shape of the same elements in the same order."""
    operator = find(node.op, node.domain)
    return operator is not None and operator.kind is Kind.VIEW and node.op != "Transpose"


def _merged(edit: Edit, node: Node) -> Node:
    """The node, reading what an equal kind of node before it read, where the two are one."""
    before = edit.writer(node.inputs[0])
    if before is None or before.clamp or node.clamp:
        return node
    turns, shows = node.op == before.op == "Transpose", _shows(node) and _shows(before)
    if not (turns or shows) or edit.tensors[before.inputs[0]].quantisation != edit.tensors[node.inputs[0]].quantisation:
        return node
    if turns:
        first, second = permutation(edit.call(before)), permutation(edit.call(node))
        return replace(node, inputs=before.inputs, attributes={"perm": tuple(first[axis] for axis in second)})
    shape = edit.add_constant(f"{node.name}/shape", np.array(edit.tensors[node.outputs[0]].shape, np.int64))
    return replace(node, op="Reshape", inputs=(before.inputs[0], shape), attributes={"allowzero": 1})


def _cancel(edit: Edit, node: Node) -> None:
    source, target = node.inputs[0], node.outputs[0]
    if not edit.is_output(target):
        edit.replace(node)
        edit.redirect(target, source)
        return
    writer = edit.writer(source)
    if writer is None or edit.is_output(source):
        if node.op != "Identity":
            edit.replace(node, Node(node.name, "Identity", (source,), (target,)))
        return
    edit.replace(node)
    edit.replace(writer, replace(writer, outputs=tuple(target if name == source else name for name in writer.outputs)))
    edit.redirect(source, target)
