"""One form for arithmetic that has several: Sum of two is Add, minus a constant is Add, divided by one is Mul, and a
second, third or fourth power is a product of two, once or twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.edit import Edit

name = "canonical"


def apply(model: Model) -> Model:
    """Rewrite every such node on plain floats."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.domain or len(node.inputs) != 2 or not all(node.inputs) or not edit.folds(*node.inputs, *node.outputs):
            continue
        constant = edit.constant(node, 1)
        if node.op == "Sum":
            edit.replace(node, replace(node, op="Add"))
        elif node.op == "Sub" and constant is not None:
            _with_constant(edit, node, "Add", np.negative(constant))
        elif node.op == "Div" and constant is not None:
            with np.errstate(all="ignore"):
                inverse = np.asarray(1 / constant.astype(np.float64)).astype(constant.dtype)
            if np.all(np.isfinite(inverse)) and np.all(inverse != 0):
                _with_constant(edit, node, "Mul", inverse)
        elif node.op == "Pow" and constant is not None and _keeps_shape(edit, node):
            _multiplied(edit, node, constant)
    return edit.result()


def _multiplied(edit: Edit, node: Node, exponent: Array) -> None:
    """A power as products; the square of a number that has a finite third or fourth power is finite."""
    base, same = node.inputs[0], exponent.size > 0 and bool(np.all(exponent == exponent.reshape(-1)[:1]))
    power = float(exponent.reshape(-1)[0]) if same else 0.0
    if power == 2:
        edit.replace(node, replace(node, op="Mul", inputs=(base, base)))
    elif power in (3, 4):
        square = edit.add_tensor(f"{node.outputs[0]}/square", edit.tensors[node.outputs[0]])
        inner = Node(edit.node_name(f"{node.name}/square"), "Mul", (base, base), (square,))
        edit.replace(node, inner, replace(node, op="Mul", inputs=(square, base if power == 3 else square)))


def _keeps_shape(edit: Edit, node: Node) -> bool:
    return edit.tensors[node.inputs[0]].shape == edit.tensors[node.outputs[0]].shape


def _with_constant(edit: Edit, node: Node, op: str, value: Array) -> None:
    name = edit.add_constant(f"{node.inputs[1]}/{op.lower()}", value)
    edit.replace(node, replace(node, op=op, inputs=(node.inputs[0], name)))
