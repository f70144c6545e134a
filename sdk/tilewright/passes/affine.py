"""Arithmetic with constants, one per channel, and the linear nodes whose weights and bias can take it in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, Clamp, Node
from tilewright.ops.codes import Products
from tilewright.ops.registry import codes_of
from tilewright.passes.edit import Edit

Reals = npt.NDArray[np.float64]


def channels(edit: Edit, node: Node) -> tuple[int, int] | None:
    """Axis and number of the output channels of a linear node on plain floats; None for any other."""
    products = codes_of(node)
    if not isinstance(products, Products) or not edit.folds(*node.inputs, *node.outputs):
        return None
    shape = edit.tensors[node.outputs[0]].shape
    if products.result_axis == 1:
        return (1, shape[1]) if len(shape) >= 3 else None
    return (len(shape) - 1, shape[-1]) if len(shape) >= 2 and len(edit.tensors[node.inputs[1]].shape) == 2 else None


def absorb(edit: Edit, linear: Node, scale: Reals, shift: Reals, output: str, clamp: Clamp | None) -> bool:
    """Make `linear` compute `scale * result + shift` per channel into `output`; False where it cannot, unchanged then.

    The result is written by a new node of the same name, in the place of `linear`.
    """
    weights, bias = edit.constant(linear, 1), bias_of(edit, linear, len(scale))
    scaled = bool(np.any(scale != 1))
    if linear.clamp is not None or bias is None or (scaled and weights is None):
        return False
    if not (np.all(np.isfinite(scale)) and np.all(np.isfinite(shift))):
        return False
    inputs = [*linear.inputs, ""][:3] if len(linear.inputs) == 2 else list(linear.inputs)
    dtype = edit.tensors[linear.outputs[0]].dtype.numpy
    if scaled and weights is not None:
        new = narrowed(_scaled(linear, weights.astype(np.float64), scale), dtype)
        if new is None:
            return False
        inputs[1] = edit.add_constant(f"{linear.inputs[1]}/scaled", new)
    attributes = dict(linear.attributes)
    op = linear.op
    if np.any(shift != 0) or (len(linear.inputs) > 2 and scaled):
        if op == "MatMul":
            if len(edit.tensors[linear.inputs[0]].shape) != 2:
                return False
            op = "Gemm"
        values = narrowed(bias * scale + shift, dtype)
        if values is None:
            return False
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


def other_and_constant(edit: Edit, node: Node, ops: frozenset[str]) -> tuple[str, Array] | None:
    """The other operand and the constant of one of these operators on plain floats that keeps the other's shape."""
    if node.op not in ops or node.domain or len(node.inputs) != 2 or not edit.folds(*node.inputs, *node.outputs):
        return None
    for index in (0, 1):
        constant, other = edit.constant(node, index), node.inputs[1 - index]
        same = edit.tensors[other].shape == edit.tensors[node.outputs[0]].shape
        if constant is not None and other not in edit.constants and same:
            return other, constant
    return None


def per_channel(constant: Array, rank: int, axis: int, count: int) -> Reals | None:
    """One value for each index of `axis`, or None where the constant varies along another one."""
    shape = (1,) * (rank - constant.ndim) + constant.shape
    if constant.ndim > rank or any(extent != 1 for i, extent in enumerate(shape) if i != axis):
        return None
    return np.broadcast_to(constant.astype(np.float64).reshape(-1), (count,))


def narrowed(values: Reals, dtype: np.dtype[np.generic]) -> Array | None:
    """The values in the type of a tensor; None where one of them has no place in it."""
    with np.errstate(over="ignore"):
        narrow: Array = values.astype(dtype)
    return narrow if np.all(np.isfinite(narrow.astype(np.float64))) else None


def bias_of(edit: Edit, linear: Node, count: int) -> Reals | None:
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
    products = codes_of(linear)
    assert isinstance(products, Products), linear.op
    if products.in_groups:  # (input channels, output channels of a group, ...)
        inputs, outputs = weights.shape[:2]
        groups = len(scale) // outputs
        grouped = weights.reshape(groups, inputs // groups, outputs, -1) * scale.reshape(groups, 1, outputs, 1)
        return grouped.reshape(weights.shape)
    axis = products.weight_axis(linear, weights.ndim)
    return weights * scale.reshape([-1 if each == axis else 1 for each in range(weights.ndim)])
