"""Sparse values in the file are stored densely."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.frontend.values import array_of, check_size
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
