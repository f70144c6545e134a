"""Takes Mul, Div, Add and Sub by constants, one per channel or one for all, into the linear node before them."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.affine import Reals, absorb, channels
from tilewright.passes.edit import Edit

name = "scalar"

_OPS = frozenset({"Mul", "Div", "Add", "Sub"})


def apply(model: Model) -> Model:
    """Fold arithmetic with constants into weights and biases, and drop `x * 1`, `x + 0` and the like."""
    edit = Edit(model)
    for node in edit.nodes():
        if (
            node.op not in _OPS
            or node.domain
            or len(node.inputs) != 2
            or not edit.is_float(*node.inputs, *node.outputs)
        ):
            continue
        first, second = edit.constant(node, 0), edit.constant(node, 1)
        if (first is None) == (second is None):
            continue
        source, constant = (node.inputs[0], second) if first is None else (node.inputs[1], first)
        if constant is not None and edit.tensors[source].shape == edit.tensors[node.outputs[0]].shape:
            _fold(edit, node, source, constant)
    return edit.result()


def _fold(edit: Edit, node: Node, source: str, constant: Array) -> None:
    before = edit.writer(source)
    if before is None:
        return
    axis_and_count = channels(edit, before)
    if axis_and_count is None or not edit.sole_reader(source, node):
        return
    values = _per_channel(constant, len(edit.tensors[source].shape), *axis_and_count)
    affine = None if values is None else _affine(node, source, values)
    if affine is not None and absorb(edit, before, *affine, node.outputs[0], node.clamp):
        edit.replace(node)


def _per_channel(constant: Array, rank: int, axis: int, count: int) -> Reals | None:
    """One value for each channel, or None where the constant varies along another axis."""
    if constant.ndim > rank:
        return None
    shape = (1,) * (rank - constant.ndim) + constant.shape
    if any(extent != 1 for i, extent in enumerate(shape) if i != axis):
        return None
    return np.broadcast_to(constant.astype(np.float64).reshape(-1), (count,))


def _affine(node: Node, source: str, values: Reals) -> tuple[Reals, Reals] | None:
    """Scale and shift that the node stands for, where `source` is its other operand."""
    ones, zeros = np.ones(len(values)), np.zeros(len(values))
    constant_first = node.inputs[0] != source
    match node.op:
        case "Mul":
            return values, zeros
        case "Add":
            return ones, values
        case "Sub":
            return (-ones, values) if constant_first else (ones, -values)
        case "Div" if not constant_first and np.all(values != 0):
            return 1 / values, zeros
    return None
