"""Takes BatchNormalization into the linear node before it; where there is none it becomes a Mul and an Add."""

from __future__ import annotations

import numpy as np

from tilewright.model import Model, Node
from tilewright.passes.affine import Reals, absorb, channels, narrowed
from tilewright.passes.edit import Edit

name = "batch_norm"


def apply(model: Model) -> Model:
    """Fold every BatchNormalization with constant statistics."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op != "BatchNormalization" or node.domain or not edit.folds(*node.inputs, *node.outputs):
            continue
        affine = _affine(edit, node)
        if affine is None:
            continue
        scale, shift = affine
        source, target = node.inputs[0], node.outputs[0]
        before = edit.writer(source)
        if before is not None and edit.sole_reader(source, node) and channels(edit, before) == (1, len(scale)):
            if absorb(edit, before, scale, shift, target, node.clamp):
                edit.replace(node)
                continue
        _as_mul_and_add(edit, node, scale, shift)
    return edit.result()


def _affine(edit: Edit, node: Node) -> tuple[Reals, Reals] | None:
    values = [edit.constant(node, index) for index in range(1, 5)]
    epsilon = node.attributes.get("epsilon", 1e-5)
    if any(value is None for value in values) or not isinstance(epsilon, int | float):
        return None
    gamma, beta, mean, variance = (value.astype(np.float64) for value in values if value is not None)
    with np.errstate(all="ignore"):
        scale = gamma / np.sqrt(variance + epsilon)
        shift = beta - mean * scale
    return (scale, shift) if np.all(np.isfinite(scale)) and np.all(np.isfinite(shift)) else None


def _as_mul_and_add(edit: Edit, node: Node, scale: Reals, shift: Reals) -> None:
    tensor = edit.tensors[node.outputs[0]]
    shape = (-1, *[1] * (len(tensor.shape) - 2))
    narrow = [narrowed(values, tensor.dtype.numpy) for values in (scale, shift)]
    if narrow[0] is None or narrow[1] is None:
        return
    factor = edit.add_constant(f"{node.name}/scale", narrow[0].reshape(shape))
    addend = edit.add_constant(f"{node.name}/shift", narrow[1].reshape(shape))
    product = edit.add_tensor(f"{node.name}/scaled", tensor)
    edit.replace(
        node,
        Node(edit.node_name(f"{node.name}/mul"), "Mul", (node.inputs[0], factor), (product,)),
        Node(node.name, "Add", (product, addend), node.outputs, clamp=node.clamp),
    )
