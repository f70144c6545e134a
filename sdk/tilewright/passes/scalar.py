"""Takes Mul, Div, Add and Sub by constants, one per channel or one for all, into the linear node before them."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.affine import Reals, absorb, channels, other_and_constant, per_channel
from tilewright.passes.edit import Edit

name = "scalar"

_OPS = frozenset({"Mul", "Div", "Add", "Sub"})


def apply(model: Model) -> Model:
    """Fold arithmetic with constants into weights and biases, and drop `x * 1`, `x + 0` and the like."""
    edit = Edit(model)
    for node in edit.nodes():
        operands = other_and_constant(edit, node, _OPS)
        if operands is not None:
            _fold(edit, node, *operands)
    return edit.result()


def _fold(edit: Edit, node: Node, source: str, constant: Array) -> None:
    before = edit.writer(source)
    if before is None:
        return
    axis_and_count = channels(edit, before)
    if axis_and_count is None or not edit.sole_reader(source, node):
        return
    values = per_channel(constant, len(edit.tensors[source].shape), *axis_and_count)
    affine = None if values is None else _affine(node, source, values)
    if affine is not None and absorb(edit, before, *affine, node.outputs[0], node.clamp):
        edit.replace(node)


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
