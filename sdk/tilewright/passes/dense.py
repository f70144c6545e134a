"""A MatMul of more than two dimensions with a bias is a Gemm between two views, so that the bias costs no pass; one of
codes by a constant vector is one by a matrix of one column, which kernels repack when compiling.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from tilewright.model import Model, Node
from tilewright.passes.edit import Edit

name = "dense"


def apply(model: Model) -> Model:
    """Rewrite MatMul by a constant vector of codes, and by a constant matrix followed by an Add of one constant per
    column, or one for all.
    """
    edit = Edit(model)
    for node in edit.nodes():
        if _by_vector(edit, node):
            _by_column(edit, node)
        if node.op != "Add" or node.domain or len(node.inputs) != 2 or not edit.is_float(*node.inputs, *node.outputs):
            continue
        for source, bias in (node.inputs, node.inputs[::-1]):
            before = edit.writer(source)
            if before is not None and _fits(edit, before, node, source, bias):
                _rewrite(edit, before, node, bias)
                break
    return edit.result()


def _by_vector(edit: Edit, node: Node) -> bool:
    if node.op != "MatMul" or node.domain:
        return False
    vector = edit.constant(node, 1)
    of = edit.tensors[node.inputs[1]].quantisation
    return (
        vector is not None
        and vector.ndim == 1
        and len(edit.tensors[node.inputs[0]].shape) > 1
        and of is not None
        and len(of.scale) == 1
    )


def _by_column(edit: Edit, node: Node) -> None:
    given, result = node.inputs[1], edit.tensors[node.outputs[0]]
    vector = edit.tensors[given]
    column = edit.add_tensor(f"{given}/column", replace(vector, shape=(*vector.shape, 1)))
    edit.constants[column] = np.ascontiguousarray(edit.constants[given][:, None])
    product = edit.add_tensor(f"{node.name}/column", replace(result, shape=(*result.shape, 1)))
    shape = edit.add_constant(f"{node.name}/shape", np.array(result.shape, np.int64))
    edit.replace(
        node,
        replace(node, inputs=(node.inputs[0], column), outputs=(product,)),
        Node(edit.node_name(f"{node.name}/shape"), "Reshape", (product, shape), node.outputs),
    )


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
