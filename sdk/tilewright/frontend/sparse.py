"""Sparse values in the file are stored densely."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.frontend.values import ONNX_TYPE, array_of, check_size
from tilewright.model import Array, DType

if TYPE_CHECKING:
    import onnx


def densify(sparse: onnx.SparseTensorProto, name: str = "", file: str = "") -> tuple[DType, Array]:
    """Type and dense values; ModelError where an index lies outside the shape or the sizes contradict each other."""
    name = name or sparse.values.name
    dtype, values = array_of(sparse.values, name, file)
    _, indices = array_of(sparse.indices, name, file)
    shape = tuple(sparse.dims)
    check_size(shape, dtype, name, file)

    def damaged(why: str) -> ModelError:
        fix = "export the model without sparse tensors"
        return ModelError(f"sparse tensor {quoted(name)} is damaged", why=why, fix=fix, tensor=name, file=file)

    if values.ndim != 1 or indices.dtype != np.int64:
        raise damaged("its values are not a list, or its indices are not int64")
    where = indices.astype(np.int64)
    if where.shape == (len(values), len(shape)):
        inside = bool(np.all((where >= 0) & (where < np.array(shape, np.int64))))
        where = np.ravel_multi_index(tuple(where.T), shape) if inside and len(values) else where[:, 0]
    elif where.shape == values.shape:
        inside = bool(np.all((where >= 0) & (where < prod(shape))))
    else:
        raise damaged(f"{len(values)} values do not go with indices of shape {list(where.shape)}")
    if not inside:
        raise damaged(f"an index lies outside its shape {list(shape)}")
    dense = np.zeros(prod(shape), values.dtype)
    dense[where] = values
    return dtype, dense.reshape(shape)


def store_densely(proto: onnx.ModelProto, file: str = "") -> None:
    """Turn sparse values of nested graphs and of Constant nodes in the message into ordinary ones."""
    work = [(proto.graph, True)]
    nodes = [node for function in proto.functions for node in function.node]
    while work or nodes:
        if work:
            graph, top = work.pop()
            if not top:
                graph.initializer.extend(
                    _dense(sparse, sparse.values.name, file) for sparse in graph.sparse_initializer
                )
                del graph.sparse_initializer[:]
            nodes.extend(graph.node)
            continue
        node = nodes.pop()
        for attribute in node.attribute:
            if attribute.HasField("g"):
                work.append((attribute.g, False))
            if attribute.HasField("sparse_tensor"):
                attribute.t.CopyFrom(_dense(attribute.sparse_tensor, f"attribute of {node.name or node.op_type}", file))
                attribute.ClearField("sparse_tensor")
                attribute.type = 4  # TENSOR
                attribute.name = "value"


def _dense(sparse: onnx.SparseTensorProto, name: str, file: str) -> onnx.TensorProto:
    import onnx

    dtype, array = densify(sparse, name, file)
    return onnx.helper.make_tensor(name, ONNX_TYPE[dtype], array.shape, array.tobytes(), raw=True)
