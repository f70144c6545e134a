"""Scale and shift of each output channel, taken into the weights and bias of the node that computes the channels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, Clamp, Node
from tilewright.passes.edit import Edit

Reals = npt.NDArray[np.float64]
LINEAR = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})


def channels(edit: Edit, node: Node) -> tuple[int, int] | None:
    """Axis and number of the output channels of a linear node on plain floats; None for any other."""
    shape = edit.tensors[node.outputs[0]].shape
    if node.op not in LINEAR or node.domain or not edit.is_float(*node.inputs, *node.outputs):
        return None
    if node.op in ("Conv", "ConvTranspose"):
        return (1, shape[1]) if len(shape) >= 3 else None
    return (len(shape) - 1, shape[-1]) if len(shape) >= 2 and len(edit.tensors[node.inputs[1]].shape) == 2 else None


def absorb(edit: Edit, linear: Node, scale: Reals, shift: Reals, output: str, clamp: Clamp | None) -> bool:
    """Make `linear` compute `scale * result + shift` per channel into `output`; False where it cannot, unchanged then.

    The result is written by a new node of the same name, in the place of `linear`.
    """
    weights, bias = edit.constant(linear, 1), _bias(edit, linear, len(scale))
    scaled = bool(np.any(scale != 1))
    if linear.clamp is not None or bias is None or (scaled and weights is None):
        return False
    if not (np.all(np.isfinite(scale)) and np.all(np.isfinite(shift))):
        return False
    inputs = [*linear.inputs, ""][:3] if len(linear.inputs) == 2 else list(linear.inputs)
    dtype = edit.tensors[linear.outputs[0]].dtype.numpy
    if scaled and weights is not None:
        new = _scaled(linear, weights.astype(np.float64), scale)
        with np.errstate(over="ignore"):
            new = new.astype(dtype)
        if not np.all(np.isfinite(new)) and np.all(np.isfinite(weights.astype(np.float64))):
            return False
        inputs[1] = edit.add_constant(f"{linear.inputs[1]}/scaled", new)
    attributes = dict(linear.attributes)
    op = linear.op
    if np.any(shift != 0) or (len(linear.inputs) > 2 and scaled):
        if op == "MatMul":
            if len(edit.tensors[linear.inputs[0]].shape) != 2:
                return False
            op = "Gemm"
        values: Array = (bias * scale + shift).astype(dtype)
        hint = linear.inputs[2] if len(linear.inputs) > 2 and linear.inputs[2] else f"{linear.name}/bias"
        inputs[2] = edit.add_constant(hint, values)
        attributes.pop("beta", None)
    while not inputs[-1]:
        inputs.pop()
    edit.replace(
        linear,
        replace(linear, op=op, inputs=tuple(inputs), outputs=(output,), attributes=attributes, clamp=clamp),
    )
    return True


def _bias(edit: Edit, linear: Node, count: int) -> Reals | None:
    """The bias of each channel, zeros where there is none; None where it is not one constant per channel."""
    if len(linear.inputs) < 3 or not linear.inputs[2]:
        return np.zeros(count)
    bias = edit.constant(linear, 2)
    if bias is None or bias.size not in (1, count) or (bias.ndim > 1 and bias.shape[-1] != bias.size):
        return None
    beta = linear.attributes.get("beta", 1.0) if linear.op == "Gemm" else 1.0
    if not isinstance(beta, int | float):
        return None
    return np.broadcast_to(bias.astype(np.float64).reshape(-1) * beta, (count,))


def _scaled(linear: Node, weights: Reals, scale: Reals) -> Reals:
    if linear.op == "Conv":
        return weights * scale.reshape(-1, *[1] * (weights.ndim - 1))
    if linear.op == "ConvTranspose":  # (input channels, output channels of a group, ...)
        inputs, outputs = weights.shape[:2]
        groups = len(scale) // outputs
        grouped = weights.reshape(groups, inputs // groups, outputs, -1) * scale.reshape(groups, 1, outputs, 1)
        return grouped.reshape(weights.shape)
    if linear.op == "Gemm" and linear.attributes.get("transB", 0):
        return weights * scale[:, None]
    return weights * scale
