"""A one-hot matrix times a matrix takes rows of it: a Gather, without the wide tensor of zeros and ones.

`Cast(Equal(indices, 0 ... n-1))` before a MatMul is how JAX's `one_hot` embeds. Every product but one is zero, so that
the row comes out as it is; an index outside of the matrix matches nothing and gives a row of zeros.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import DType, Model, Node, Tensor
from tilewright.passes.edit import Edit

name = "hot_rows"


def apply(model: Model) -> Model:
    """`MatMul(Cast(Equal(indices, counted)), weights)` as a Gather of rows."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op == "MatMul" and not node.domain and node.clamp is None and edit.is_float(*node.inputs):
            _rewrite(edit, node)
    return edit.result()


def _rewrite(edit: Edit, node: Node) -> None:
    weights, cast = edit.constant(node, 1), edit.writer(node.inputs[0])
    if weights is None or weights.ndim != 2 or not np.isfinite(weights).all() or cast is None or cast.op != "Cast":
        return
    equal = edit.writer(cast.inputs[0])
    if equal is None or equal.op != "Equal" or equal.domain or not edit.sole_reader(node.inputs[0], node):
        return
    rows, (result,) = len(weights), node.outputs
    indices = _indices(edit, equal, rows)
    if indices is None or indices.shape[:-1] != edit.tensors[result].shape[:-1]:
        return
    made = []
    index = indices.name
    if indices.dtype not in (DType.I32, DType.I64):
        index = edit.add_tensor(f"{node.name}/wide", replace(indices, dtype=DType.I64))
        made.append(Node(edit.node_name(f"{node.name}/cast"), "Cast", (indices.name,), (index,), {"to": 7}))
    # -1 is the last row as well as `rows` is: the one of zeros.
    limits = [np.array(limit, edit.tensors[index].dtype.numpy) for limit in (-1, rows)]
    bounds = [edit.add_constant(f"{node.name}/limit", limit) for limit in limits]
    inside = edit.add_tensor(f"{node.name}/index", edit.tensors[index])
    made.append(Node(edit.node_name(f"{node.name}/clip"), "Clip", (index, *bounds), (inside,)))
    padded = np.append(weights, np.zeros_like(weights[:1]), 0)
    table = edit.add_constant(f"{node.name}/rows", padded + weights.dtype.type(0))  # a sum has no -0
    like = edit.tensors[result]
    taken = edit.add_tensor(f"{node.name}/taken", replace(like, shape=(*indices.shape, weights.shape[1])))
    made.append(Node(edit.node_name(f"{node.name}/gather"), "Gather", (table, inside), (taken,), {"axis": 0}))
    shape = edit.add_constant(f"{node.name}/shape", np.array(like.shape, np.int64))
    edit.replace(node, *made, Node(node.name, "Reshape", (taken, shape), node.outputs))


def _indices(edit: Edit, equal: Node, rows: int) -> Tensor | None:
    """The integers, [..., 1], that are compared with 0 to `rows` along the last axis; None where it is otherwise."""
    for place in (0, 1):
        counted, name = edit.constant(equal, place), equal.inputs[1 - place]
        if counted is None or counted.size != rows or counted.shape[-1:] != (rows,):
            continue
        expand = edit.writer(name)
        indices = edit.tensors[expand.inputs[0] if expand is not None and expand.op == "Expand" else name]
        plain = indices.dtype.value[0] in "iu" and indices.dtype.bits >= 8 and indices.quantisation is None
        if plain and indices.shape[-1:] == (1,) and (counted.reshape(-1) == np.arange(rows)).all():
            return indices
    return None
