"""Operators whose values are known from shapes: Constant, ConstantOfShape, Shape, Size, Range and EyeLike."""

from __future__ import annotations

import math

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.operands import LIMIT_BYTES, Arrays, element_type, integer_list, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def _constant_value(call: Call) -> Array:
    attributes = call.node.attributes
    for name in ("sparse_value", "value_string", "value_strings"):
        if name in attributes:
            raise call.unsupported(f"a constant by '{name}'", "use a dense numeric tensor")
    if "value" in attributes:
        return _array(call)
    if "value_float" in attributes:
        return np.asarray(call.real("value_float"), np.float32)
    if "value_floats" in attributes:
        return np.asarray(attributes["value_floats"], np.float32)
    if "value_int" in attributes:
        return np.asarray(call.integer("value_int"), np.int64)
    if "value_ints" in attributes:
        return np.asarray(call.integers("value_ints"), np.int64)
    raise call.invalid("it has no value")


def _array(call: Call) -> Array:
    value = call.node.attributes["value"]
    if not isinstance(value, np.ndarray):
        raise call.invalid("attribute 'value' must be a tensor")
    try:
        DType.of(value.dtype)
    except (KeyError, TypeError):
        raise call.unsupported(f"the element type {value.dtype}") from None
    return value


def _constant(call: Call) -> tuple[TensorType, ...]:
    value = _constant_value(call)
    return (result(call, DType.of(value.dtype), value.shape),)


def _constant_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (_constant_value(call),)


def _fill_value(call: Call) -> Array:
    value = _array(call) if "value" in call.node.attributes else np.zeros(1, np.float32)
    if value.size != 1:
        raise call.invalid(f"the value must be one element, not {value.size}")
    return value.reshape(())


def _of_shape(call: Call) -> tuple[TensorType, ...]:
    shape = integer_list(call, 0, "the shape")
    return (result(call, DType.of(_fill_value(call).dtype), shape),)


def _filled(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.full(call.outputs[0].shape, _fill_value(call)),)


def _shape_taken(call: Call) -> tuple[int, ...]:
    shape = call.shape()
    return shape[slice(call.integer("start", 0), call.integer("end", len(shape)))]


def _shape(call: Call) -> tuple[TensorType, ...]:
    return (result(call, DType.I64, (len(_shape_taken(call)),)),)


def _shape_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.asarray(_shape_taken(call), np.int64),)


def _size(call: Call) -> tuple[TensorType, ...]:
    call.tensor(0)
    return (result(call, DType.I64, ()),)


def _size_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.asarray(math.prod(call.shape()), np.int64),)


def _range_ends(call: Call) -> tuple[float, float, float]:
    ends = [call.constant(index, what) for index, what in enumerate(("the start", "the limit", "the step"))]
    if any(end.size != 1 for end in ends):
        raise call.invalid("start, limit and step must be single numbers")
    start, limit, step = (end.reshape(-1)[0].item() for end in ends)
    if step == 0 or not all(math.isfinite(value) for value in (start, limit, step)):
        raise call.invalid(f"a range from {start} to {limit} by {step}")
    return start, limit, step


def _range(call: Call) -> tuple[TensorType, ...]:
    start, limit, step = _range_ends(call)
    if isinstance(start, int) and isinstance(limit, int) and isinstance(step, int):
        count = max(0, -((start - limit) // step))
    elif abs((limit - start) / step) > LIMIT_BYTES:
        raise call.unsupported(f"a range from {start} to {limit} by {step} is larger than 2 GiB")
    else:
        count = max(0, math.ceil((limit - start) / step))
    return (result(call, call.tensor(0).dtype, (count,)),)


def _range_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    start, _, step = _range_ends(call)
    dtype = call.outputs[0].dtype.numpy
    places = np.arange(call.outputs[0].shape[0])
    if dtype == np.float16:  # stash_type: halves are computed in float32
        return ((np.float32(start) + places.astype(np.float32) * np.float32(step)).astype(dtype),)
    return (np.asarray(start, dtype) + places.astype(dtype) * np.asarray(step, dtype),)


def _eye(call: Call) -> tuple[TensorType, ...]:
    shape = call.shape()
    if len(shape) not in (1, 2):
        raise call.invalid(f"EyeLike needs 1 or 2 axes, not {shape}")
    number = call.node.attributes.get("dtype")
    dtype = call.tensor(0).dtype if number is None else element_type(call, call.integer("dtype"))
    return (result(call, dtype, shape if len(shape) == 2 else shape * 2),)


def _eye_array(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    rows, columns = call.outputs[0].shape
    offset = max(-rows, min(columns, call.integer("k", 0)))
    return (np.eye(rows, columns, offset, call.outputs[0].dtype.numpy),)


OPERATORS = (
    Operator("Constant", _constant, _constant_array, (), kind=Kind.OPAQUE),
    Operator("ConstantOfShape", _of_shape, _filled, ("shape",), kind=Kind.OPAQUE),
    Operator("Shape", _shape, _shape_array, ("x",), kind=Kind.OPAQUE, reads_values=False),
    Operator("Size", _size, _size_array, ("x",), kind=Kind.OPAQUE, reads_values=False),
    Operator("Range", _range, _range_array, ("start", "limit", "delta"), kind=Kind.OPAQUE),
    Operator("EyeLike", _eye, _eye_array, ("x",), kind=Kind.OPAQUE, reads_values=False),
)
