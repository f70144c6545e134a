"""Removes what computes nothing: Identity, Dropout, casts to the same type, views and moves that keep every element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node, Tensor
from tilewright.passes.edit import Edit

name = "identity"

_ALWAYS = frozenset({"Identity", "Dropout"})
_VARIADIC = frozenset({"Concat", "Sum", "Max", "Min", "Mean"})
_VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
_SAME_WHERE_SAME_SHAPE = _VIEWS | {"Cast", "CastLike", "Expand", "Tile", "Split"}


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
    if node.clamp is not None or node.domain:
        return False
    if node.op in _ALWAYS or node.op in _SAME_WHERE_SAME_SHAPE:
        return True
    if node.op in _VARIADIC:
        return len(node.inputs) == 1
    if node.op == "Transpose":
        return _moves_nothing(_permutation(node, source), source)
    if node.op == "Pad":
        pads = edit.constant(node, 1)
        return pads is not None and not np.any(pads)
    if node.op == "Slice":
        steps = edit.constant(node, 4)
        return len(node.inputs) < 5 or not node.inputs[4] or (steps is not None and bool(np.all(steps > np.int64(0))))
    if node.op in ("MaxPool", "AveragePool"):
        return all(k == 1 for k in _integers(node, "kernel_shape")) and not any(_integers(node, "pads"))
    return False


def _integers(node: Node, attribute: str) -> tuple[int, ...]:
    value = node.attributes.get(attribute, ())
    return tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else (0,)


def _permutation(node: Node, source: Tensor) -> tuple[int, ...]:
    return _integers(node, "perm") or tuple(reversed(range(len(source.shape))))


def _moves_nothing(permutation: tuple[int, ...], source: Tensor) -> bool:
    """True where the axes that are longer than 1 keep their order."""
    moved = [axis for axis in permutation if source.shape[axis] != 1]
    return moved == sorted(moved)


def _merged(edit: Edit, node: Node) -> Node:
    """The node, reading what an equal kind of node before it read, where the two are one."""
    before = edit.writer(node.inputs[0])
    if before is None or before.clamp or node.clamp or before.op not in _VIEWS | {"Transpose"}:
        return node
    source, middle = _ends(edit, before)
    if source.quantisation != middle.quantisation:
        return node
    if node.op == before.op == "Transpose":
        first, second = _permutation(before, source), _permutation(node, middle)
        return replace(node, inputs=before.inputs, attributes={"perm": tuple(first[axis] for axis in second)})
    if node.op in _VIEWS and before.op in _VIEWS:
        shape = edit.add_constant(f"{node.name}/shape", np.array(edit.tensors[node.outputs[0]].shape, np.int64))
        return replace(node, op="Reshape", inputs=(before.inputs[0], shape), attributes={"allowzero": 1})
    return node


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
