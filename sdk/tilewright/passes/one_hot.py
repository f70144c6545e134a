"""A `Where` that takes one entry of a cache from elsewhere, by a one-hot mask, writes that entry and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find
from tilewright.ops.relayout import DOMAIN
from tilewright.passes.edit import Edit

name = "one_hot"


def apply(model: Model) -> Model:
    """`Where(Equal(counted, position), update, cache)` as a Put, where the cache is a state."""
    held = {state.past for state in model.states}
    if not held:
        return model
    edit = Edit(model)
    for node in edit.nodes():
        if node.op == "Where" and not node.domain and node.clamp is None and node.inputs[2] in held:
            _rewrite(edit, node)
    return edit.result()


def _rewrite(edit: Edit, node: Node) -> None:
    shape, update = edit.tensors[node.inputs[2]].shape, edit.tensors[node.inputs[1]]
    hot = _hot(edit, node.inputs[0], len(shape))
    if hot is None or edit.tensors[node.outputs[0]].shape != shape:
        return
    axis, size, position = hot
    entry = (*shape[:axis], 1, *shape[axis + 1 :])
    if size != shape[axis] or (1,) * (len(shape) - len(update.shape)) + update.shape != entry:
        return
    source = update.name
    if update.shape != entry:
        source = edit.add_tensor(f"{node.name}/entry", replace(update, shape=entry))
        wanted = edit.add_constant(f"{source}/shape", np.array(entry, np.int64))
        attributes = {"allowzero": 1}
        edit.insert(node, Node(edit.node_name(source), "Reshape", (update.name, wanted), (source,), attributes))
    inputs = (node.inputs[2], source, position)
    edit.replace(node, Node(node.name, "Put", inputs, node.outputs, {"axis": axis}, DOMAIN))


def _hot(edit: Edit, mask: str, rank: int) -> tuple[int, int, str] | None:
    """(axis among `rank`, entries, position) of a mask that is true for one entry alone."""
    shape, made = edit.tensors[mask].shape, edit.writer(mask)
    while made is not None and (operator := find(made.op, made.domain)) is not None and operator.kind is Kind.VIEW:
        made = None if made.op == "Transpose" else edit.writer(made.inputs[0])
    if made is None or made.op != "Equal" or made.domain:
        return None
    wide = [axis for axis, size in enumerate(shape) if size > 1]
    for place in (0, 1):
        counted, position = edit.constant(made, place), edit.tensors[made.inputs[1 - place]]
        if counted is None or position.elements != 1 or position.dtype.is_float or len(wide) != 1:
            continue
        if counted.size == shape[wide[0]] and (counted.reshape(-1) == np.arange(counted.size)).all():
            return rank - len(shape) + wide[0], counted.size, position.name
    return None
