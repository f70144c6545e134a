"""A MatMul of more than two dimensions with a bias is a Gemm between two views, so that the bias costs no pass."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from tilewright.model import Model, Node
from tilewright.passes.edit import Edit

name = "dense"


def apply(model: Model) -> Model:
    """Rewrite MatMul by a constant matrix followed by an Add of one constant per column, or one for all."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op != "Add" or node.domain or len(node.inputs) != 2 or not edit.is_float(*node.inputs, *node.outputs):
            continue
        for source, bias in (node.inputs, node.inputs[::-1]):
            before = edit.writer(source)
            if before is not None and _fits(edit, before, node, source, bias):
                _rewrite(edit, before, node, bias)
                break
    return edit.result()


def _fits(edit: Edit, before: Node, node: Node, source: str, bias: str) -> bool:
    if before.op != "MatMul" or before.domain or before.clamp or not edit.is_float(*before.inputs):
        return False
    weights, added = edit.constants.get(before.inputs[1]), edit.constants.get(bias)
    shape = edit.tensors[source].shape
    if weights is None or added is None or weights.ndim != 2 or len(shape) < 3 or not edit.sole_reader(source, node):
        return False
    per_column = added.size == 1 or (added.size == shape[-1] and added.shape[-1] == shape[-1])
    return per_column and edit.tensors[node.outputs[0]].shape == shape


def _rewrite(edit: Edit, before: Node, node: Node, bias: str) -> None:
    operand, result = edit.tensors[before.inputs[0]], edit.tensors[node.outputs[0]]
    rows, depth, columns = prod(operand.shape[:-1]), operand.shape[-1], result.shape[-1]
    matrix = edit.add_tensor(f"{before.name}/rows", replace(operand, shape=(rows, depth)))
    product = edit.add_tensor(f"{node.name}/rows", replace(result, shape=(rows, columns)))
    to_rows = edit.add_constant(f"{before.name}/rows/shape", np.array([rows, depth], np.int64))
    back = edit.add_constant(f"{node.name}/shape", np.array(result.shape, np.int64))
    flat = edit.add_constant(f"{bias}/flat", edit.constants[bias].reshape(-1))
    edit.replace(
        before,
        Node(edit.node_name(f"{before.name}/rows"), "Reshape", (before.inputs[0], to_rows), (matrix,)),
        Node(before.name, "Gemm", (matrix, before.inputs[1], flat), (product,), clamp=node.clamp),
    )
    edit.replace(node, Node(node.name, "Reshape", (product, back), node.outputs))
