"""Values of tensors in the file as NumPy arrays: types mapped, sizes checked before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.model import Array, DType

if TYPE_CHECKING:
    import onnx

ELEMENT_LIMIT = 1 << 31
BYTE_LIMIT = 2 << 30

# TensorProto.DataType -> our type, and the field that holds values which are not in raw_data
_TYPES: dict[int, tuple[DType, str]] = {
    1: (DType.F32, "float_data"),
    2: (DType.U8, "int32_data"),
    3: (DType.I8, "int32_data"),
    4: (DType.U16, "int32_data"),
    5: (DType.I16, "int32_data"),
    6: (DType.I32, "int32_data"),
    7: (DType.I64, "int64_data"),
    9: (DType.BOOL, "int32_data"),
    10: (DType.F16, "int32_data"),
    16: (DType.BF16, "int32_data"),
    11: (DType.F64, "double_data"),
    12: (DType.U32, "uint64_data"),
    13: (DType.U64, "uint64_data"),
    21: (DType.U4, "int32_data"),
    22: (DType.I4, "int32_data"),
}
_LISTED = {
    "float_data": "float32",
    "double_data": "float64",
    "int32_data": "int32",
    "int64_data": "int64",
    "uint64_data": "uint64",
}
_FOUR_BITS = (DType.I4, DType.U4)
ONNX_TYPE = {dtype: number for number, (dtype, _) in _TYPES.items()}


def element_type(number: int, tensor: str, file: str = "") -> DType:
    """Our type for a TensorProto.DataType; ModelError that names the tensor where there is none."""
    import onnx

    if number in _TYPES:
        return _TYPES[number][0]
    names = {value: name.lower() for name, value in onnx.TensorProto.DataType.items() if value}
    name = names.get(number)
    why = f"elements of type {name} are not supported" if name else f"element type {number} does not exist"
    fix = "convert the model to float32" if name else "check how the model was exported"
    raise ModelError(f"tensor {quoted(tensor)} cannot be used", why=why, fix=fix, tensor=tensor, file=file)


def check_size(shape: Sequence[int], dtype: DType, tensor: str, file: str = "") -> int:
    """The bytes of a tensor in NumPy; ModelError where a dimension is negative or it has no place in 2 GiB."""
    fault, elements = "", prod(shape)
    size_bytes = elements * dtype.numpy.itemsize
    if len(shape) > 32:
        fault = f"it has {len(shape)} dimensions, 32 are the most"
    elif min(shape, default=1) < 0:
        fault = f"its shape {list(shape)} has a negative dimension"
    elif max(shape, default=1) > ELEMENT_LIMIT or elements > ELEMENT_LIMIT or size_bytes > BYTE_LIMIT:
        fault = f"its shape {list(shape)} means {size_bytes} bytes, the limit is {BYTE_LIMIT}"
    if fault:
        what, fix = f"tensor {quoted(tensor)} cannot be used", "check the shapes, or set them with --shape"
        raise ModelError(what, why=fault, fix=fix, tensor=tensor, file=file)
    return size_bytes


def stored_bytes(tensor: onnx.TensorProto, file: str = "") -> int | None:
    """The bytes that the file must hold for the tensor's shape and type; None for a type that we do not have."""
    if tensor.data_type not in _TYPES:
        return None
    dtype = _TYPES[tensor.data_type][0]
    size_bytes = check_size(tensor.dims, dtype, tensor.name, file)
    return -(-size_bytes // 2) if dtype in _FOUR_BITS else size_bytes


def array_of(tensor: onnx.TensorProto, name: str = "", file: str = "") -> tuple[DType, Array]:
    """Type and values of a tensor in the file; four-bit types come one to a byte."""
    name = name or tensor.name
    dtype = element_type(tensor.data_type, name, file)
    shape = tuple(tensor.dims)
    check_size(shape, dtype, name, file)
    if tensor.HasField("segment"):
        raise ModelError(
            f"tensor {quoted(name)} is cut into segments", why="nothing writes this", tensor=name, file=file
        )
    elements = prod(shape)
    stored = -(-elements // 2) if dtype in _FOUR_BITS else elements
    flat = _raw(tensor, dtype) if tensor.HasField("raw_data") else _listed(tensor)
    if flat is None or flat.size != stored:
        held = f"{len(tensor.raw_data)} bytes" if flat is None else f"{flat.size} values"
        raise ModelError(
            f"tensor {quoted(name)} is damaged",
            why=f"its shape {list(shape)} asks for {stored} values of {dtype.value}, the file holds {held}",
            fix="export or download the model again",
            tensor=name,
            file=file,
        )
    return dtype, _converted(flat, dtype)[:elements].reshape(shape)


def _raw(tensor: onnx.TensorProto, dtype: DType) -> Array | None:
    """The stored elements, little endian; None where the bytes are no whole number of elements."""
    stored = np.dtype(np.uint8) if dtype is DType.BOOL or dtype in _FOUR_BITS else dtype.numpy
    stored = np.dtype(np.uint16) if dtype is DType.BF16 else stored
    data = tensor.raw_data
    return None if len(data) % stored.itemsize else np.frombuffer(data, stored.newbyteorder("<"))


def _listed(tensor: onnx.TensorProto) -> Array:
    field = _TYPES[tensor.data_type][1]
    values = getattr(tensor, field)
    return np.fromiter(values, _LISTED[field], len(values))


def _converted(stored: Array, dtype: DType) -> Array:
    if dtype is DType.BOOL:
        return stored.astype(np.bool_)
    if dtype in _FOUR_BITS:
        return _unpack(stored.astype(np.uint8), dtype)
    if dtype in (DType.F16, DType.BF16) and stored.dtype != dtype.numpy:
        return stored.astype(np.uint16).view(dtype.numpy)
    return stored.astype(dtype.numpy, copy=False)


def _unpack(packed: npt.NDArray[np.uint8], dtype: DType) -> Array:
    """Two four-bit values from each byte, the low one first."""
    low_and_high = np.stack([packed & np.uint8(15), packed >> np.uint8(4)], axis=-1).reshape(-1)
    if dtype is DType.U4:
        return low_and_high
    return ((low_and_high ^ 8).astype(np.int8) - 8).astype(np.int8)
