"""Takes Mul and Add by constants, one per channel or one for all, into the Conv, Gemm or MatMul that alone reads them.

Networks that normalise their input begin like this. An Add goes into a Conv only where nothing is padded: padding is
zero after the Add, not before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array, Attribute, Model, Node
from tilewright.passes.affine import Reals
from tilewright.passes.edit import Edit

name = "prescale"


def apply(model: Model) -> Model:
    """Fold every such Mul and Add into constant weights and bias."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op not in ("Conv", "Gemm", "MatMul") or node.domain or not edit.is_float(*node.inputs, *node.outputs):
            continue
        before = edit.writer(node.inputs[0])
        weights = edit.constant(node, 1)
        if before is None or weights is None or not edit.sole_reader(node.inputs[0], node):
            continue
        found = _constant_operand(edit, before)
        if found is not None and _readable(edit, node, weights):
            _fold(edit, before, node, weights, *found)
    return edit.result()


def _constant_operand(edit: Edit, before: Node) -> tuple[str, Array] | None:
    if before.op not in ("Mul", "Add") or before.domain or before.clamp or not edit.is_float(*before.inputs):
        return None
    for index in (0, 1):
        constant, other = edit.constant(before, index), before.inputs[1 - index]
        if constant is not None and edit.tensors[other].shape == edit.tensors[before.outputs[0]].shape:
            return other, constant
    return None


def _readable(edit: Edit, node: Node, weights: Array) -> bool:
    """True where input channels are an axis of the weights that is known: one group, rank 2, nothing transposed."""
    if node.op == "Conv":
        return len(edit.tensors[node.inputs[0]].shape) >= 3 and node.attributes.get("group", 1) == 1
    return weights.ndim == 2 and len(edit.tensors[node.inputs[0]].shape) >= 2 and not node.attributes.get("transA", 0)


def _per_channel(constant: Array, rank: int, axis: int, count: int) -> Reals | None:
    shape = (1,) * (rank - constant.ndim) + constant.shape
    if constant.ndim > rank or any(extent != 1 for i, extent in enumerate(shape) if i != axis):
        return None
    return np.broadcast_to(constant.astype(np.float64).reshape(-1), (count,))


def _fold(edit: Edit, before: Node, node: Node, weights: Array, source: str, constant: Array) -> None:
    shape = edit.tensors[source].shape
    axis = 1 if node.op == "Conv" else len(shape) - 1
    values = _per_channel(constant, len(shape), axis, shape[axis])
    if values is None:
        return
    turned = node.op == "Gemm" and bool(node.attributes.get("transB", 0))
    along = values.reshape(1, -1, *[1] * (weights.ndim - 2)) if node.op == "Conv" or turned else values.reshape(-1, 1)
    scaled = weights.astype(np.float64) * along
    inputs = [source, *node.inputs[1:]]
    if before.op == "Mul":
        inputs[1] = _constant(edit, f"{node.inputs[1]}/scaled", scaled, weights)
    else:
        out_axis = 0 if node.op == "Conv" or turned else 1
        shift = scaled.sum(axis=tuple(i for i in range(weights.ndim) if i != out_axis))
        bias = _shifted_bias(edit, node, shift)
        if bias is None:
            return
        inputs = [*inputs[:2], _constant(edit, f"{node.name}/bias", bias, weights)]
    if all(np.all(np.isfinite(edit.constants[name])) for name in inputs[1:] if name in edit.constants):
        edit.replace(node, replace(node, inputs=tuple(inputs), attributes=_attributes(node, before)))
        edit.replace(before)


def _attributes(node: Node, before: Node) -> dict[str, Attribute]:
    return {key: value for key, value in node.attributes.items() if before.op == "Mul" or key != "beta"}


def _shifted_bias(edit: Edit, node: Node, shift: Reals) -> Reals | None:
    """The bias with what the Add contributed; None where the node pads, or its bias is not one constant per channel."""
    if node.op == "MatMul":
        return None
    pads = node.attributes.get("pads", ())
    if (isinstance(pads, tuple) and any(pads)) or node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    alpha, beta = (node.attributes.get(key, 1.0) for key in ("alpha", "beta"))
    if not isinstance(alpha, int | float) or not isinstance(beta, int | float):
        return None
    if len(node.inputs) < 3 or not node.inputs[2]:
        return shift * alpha
    bias = edit.constant(node, 2)
    if bias is None or bias.size not in (1, len(shift)) or (bias.ndim > 1 and bias.shape[-1] != bias.size):
        return None
    return shift * alpha + bias.astype(np.float64).reshape(-1) * beta


def _constant(edit: Edit, hint: str, values: Reals, like: Array) -> str:
    with np.errstate(over="ignore"):
        return edit.add_constant(hint, values.astype(like.dtype))
