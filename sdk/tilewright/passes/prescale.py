"""Takes Mul and Add by constants, one per channel or one for all, into the Conv, Gemm or MatMul that alone reads them.

Networks that normalise their input begin like this. An Add goes into a Conv only where nothing is padded: padding is
zero after the Add, not before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.affine import Reals, bias_of, narrowed, other_and_constant, per_channel
from tilewright.passes.edit import Edit

name = "prescale"

_OPS = frozenset({"Mul", "Add"})


def apply(model: Model) -> Model:
    """Fold every such Mul and Add into constant weights and bias."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op not in ("Conv", "Gemm", "MatMul") or node.domain or not edit.folds(*node.inputs, *node.outputs):
            continue
        before = edit.writer(node.inputs[0])
        weights = edit.constant(node, 1)
        if before is None or before.clamp or weights is None or not edit.sole_reader(node.inputs[0], node):
            continue
        pair = other_and_constant(edit, before, _OPS)
        if pair is not None and _readable(edit, node, weights):
            _fold(edit, before, node, weights, *pair)
    return edit.result()


def _readable(edit: Edit, node: Node, weights: Array) -> bool:
    """True where input channels are an axis of the weights that is known: one group, rank 2, nothing transposed."""
    if node.op == "Conv":
        return len(edit.tensors[node.inputs[0]].shape) >= 3 and node.attributes.get("group", 1) == 1
    return weights.ndim == 2 and len(edit.tensors[node.inputs[0]].shape) >= 2 and not node.attributes.get("transA", 0)


def _fold(edit: Edit, before: Node, node: Node, weights: Array, source: str, constant: Array) -> None:
    shape = edit.tensors[source].shape
    axis = 1 if node.op == "Conv" else len(shape) - 1
    values = per_channel(constant, len(shape), axis, shape[axis])
    if values is None:
        return
    turned = node.op == "Gemm" and bool(node.attributes.get("transB", 0))
    along = values.reshape(1, -1, *[1] * (weights.ndim - 2)) if node.op == "Conv" or turned else values.reshape(-1, 1)
    scaled = weights.astype(np.float64) * along
    attributes = dict(node.attributes)
    if before.op == "Mul":
        position, hint, new = 1, f"{node.inputs[1]}/scaled", narrowed(scaled, weights.dtype)
    else:
        out_axis = 0 if node.op == "Conv" or turned else 1
        shift = scaled.sum(axis=tuple(i for i in range(weights.ndim) if i != out_axis))
        bias = _shifted_bias(edit, node, shift)
        position, hint, new = 2, f"{node.name}/bias", None if bias is None else narrowed(bias, weights.dtype)
        attributes.pop("beta", None)
    if new is None:
        return
    inputs = [source, *node.inputs[1:], ""][:3]
    inputs[position] = edit.add_constant(hint, new)
    edit.replace(node, replace(node, inputs=tuple(filter(None, inputs)), attributes=attributes))
    edit.replace(before)


def _shifted_bias(edit: Edit, node: Node, shift: Reals) -> Reals | None:
    """The bias with what the Add contributed; None where the node pads, or its bias is not one constant per channel."""
    pads, alpha = node.attributes.get("pads", ()), node.attributes.get("alpha", 1.0)
    if node.op == "MatMul" or not isinstance(alpha, int | float):
        return None
    if (isinstance(pads, tuple) and any(pads)) or node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    bias = bias_of(edit, node, len(shift))
    return None if bias is None else shift * alpha + bias
