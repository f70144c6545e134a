"""Means and maxima over all of the spatial axes get one form: GlobalAveragePool and GlobalMaxPool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node
from tilewright.passes.edit import Edit

name = "pool"

_GLOBAL = {
    "ReduceMean": "GlobalAveragePool",
    "ReduceMax": "GlobalMaxPool",
    "AveragePool": "GlobalAveragePool",
    "MaxPool": "GlobalMaxPool",
}


def apply(model: Model) -> Model:
    """Rewrite reductions and pools whose window is the whole image; without keepdims a Reshape follows."""
    edit = Edit(model)
    for node in edit.nodes():
        if (
            node.op not in _GLOBAL
            or node.domain
            or len(node.outputs) != 1
            or not edit.is_float(node.inputs[0], *node.outputs)
        ):
            continue
        if len(edit.tensors[node.inputs[0]].shape) < 3:
            continue
        if node.op.startswith("Reduce"):
            _reduction(edit, node)
        elif _whole_window(edit, node):
            edit.replace(node, replace(node, op=_GLOBAL[node.op], inputs=node.inputs[:1], attributes={}))
    return edit.result()


def _reduction(edit: Edit, node: Node) -> None:
    source, target = edit.tensors[node.inputs[0]], edit.tensors[node.outputs[0]]
    axes, rank = edit.constant(node, 1), len(source.shape)
    # one axis may be written as a scalar
    if axes is None or sorted(int(axis) % rank for axis in axes.reshape(-1)) != list(range(2, rank)):
        return
    pooled_shape = (*source.shape[:2], *[1] * (len(source.shape) - 2))
    if target.shape == pooled_shape:
        edit.replace(node, replace(node, op=_GLOBAL[node.op], inputs=node.inputs[:1], attributes={}))
        return
    pooled = edit.add_tensor(f"{node.name}/pooled", replace(target, shape=pooled_shape))
    shape = edit.add_constant(f"{node.name}/shape", np.array(target.shape, np.int64))
    edit.replace(
        node,
        replace(node, op=_GLOBAL[node.op], inputs=node.inputs[:1], outputs=(pooled,), attributes={}),
        Node(edit.node_name(f"{node.name}/reshape"), "Reshape", (pooled, shape), node.outputs),
    )


def _whole_window(edit: Edit, node: Node) -> bool:
    spatial = edit.tensors[node.inputs[0]].shape[2:]
    pads, dilations = node.attributes.get("pads", ()), node.attributes.get("dilations", ())
    if node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return False
    plain = not (isinstance(pads, tuple) and any(pads)) and not (isinstance(dilations, tuple) and set(dilations) - {1})
    one = all(extent == 1 for extent in edit.tensors[node.outputs[0]].shape[2:])
    return plain and one and node.attributes.get("kernel_shape") == spatial
