"""How the operators read their operands: axes, compile-time integers, element types and the limit on result bytes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tilewright.model import Array, DType, Shape
from tilewright.ops.operator import Call, TensorType

Arrays = Sequence[Array | None]

LIMIT_BYTES = 1 << 31
"""No operator makes a tensor of more bytes than this; a hostile shape is refused before anything is allocated."""

# TensorProto.DataType of onnx.proto.
ELEMENT_TYPES: dict[int, DType] = {
    1: DType.F32, 2: DType.U8, 3: DType.I8, 4: DType.U16, 5: DType.I16, 6: DType.I32, 7: DType.I64, 9: DType.BOOL,
    10: DType.F16, 11: DType.F64, 12: DType.U32, 13: DType.U64, 16: DType.BF16, 21: DType.U4, 22: DType.I4,
}  # fmt: skip
_REFUSED_TYPES = {
    8: "string", 14: "complex64", 15: "complex128", 17: "float8e4m3fn", 18: "float8e4m3fnuz",
    19: "float8e5m2", 20: "float8e5m2fnuz", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}  # fmt: skip


def given(arrays: Arrays, index: int) -> Array:
    """The operand `index` of an evaluation, which `infer` has already shown to be there."""
    array = arrays[index]
    assert array is not None, f"operand {index} is missing"
    return array


def maybe(arrays: Arrays, index: int) -> Array | None:
    """The operand `index` of an evaluation, None where it is omitted."""
    return arrays[index] if index < len(arrays) else None


def result(call: Call, dtype: DType, shape: Sequence[int]) -> TensorType:
    """Type of an output; UnsupportedNode beyond 2 GiB, ModelError for a negative dimension."""
    sizes = tuple(int(size) for size in shape)
    if any(size < 0 for size in sizes):
        raise call.invalid(f"the result would have the shape {sizes}")
    if prod(sizes) * dtype.bits > 8 * LIMIT_BYTES or max(sizes, default=0) > LIMIT_BYTES:
        raise call.unsupported(
            f"the result of shape {sizes} and type {dtype.value} is larger than 2 GiB", "use smaller input shapes"
        )
    return TensorType(dtype, sizes)


def same(call: Call, index: int = 0) -> TensorType:
    """Type and shape of the operand `index`."""
    return result(call, call.tensor(index).dtype, call.shape(index))


def element_type(call: Call, number: int) -> DType:
    """The element type that a TensorProto.DataType number means; UnsupportedNode for those that we do not have."""
    if number in ELEMENT_TYPES:
        return ELEMENT_TYPES[number]
    if number in _REFUSED_TYPES:
        raise call.unsupported(f"the element type {_REFUSED_TYPES[number]} is not supported", "use float32 or integers")
    raise call.invalid(f"{number} is not an element type")


def one_axis(call: Call, axis: int, rank: int, what: str = "axis") -> int:
    """`axis` counted from the front; ModelError outside [-rank, rank)."""
    if not -rank <= axis < rank:
        raise call.invalid(f"{what} {axis} is outside the rank {rank}")
    return axis % rank


def some_axes(call: Call, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """`axes` counted from the front, in the given order; ModelError for one out of range or named twice."""
    places = tuple(one_axis(call, axis, rank) for axis in axes)
    if len(set(places)) != len(places):
        raise call.invalid(f"axes {tuple(axes)} name an axis twice")
    return places


def integer_list(call: Call, index: int, what: str) -> tuple[int, ...]:
    """A compile-time operand that is a vector (or a scalar) of integers."""
    array: Array = call.constant(index, what)
    if array.dtype.kind not in "iu" or array.ndim > 1:
        raise call.invalid(f"{what} must be a vector of integers, not {array.dtype} of shape {array.shape}")
    return tuple(int(value) for value in array.reshape(-1))


def integer_scalar(call: Call, index: int, what: str) -> int:
    """A compile-time operand that is one integer."""
    values = integer_list(call, index, what)
    if len(values) != 1:
        raise call.invalid(f"{what} must be one integer, not {len(values)}")
    return values[0]


def listed(call: Call, index: int, name: str) -> tuple[int, ...] | None:
    """The list `name` from operand `index` or, in older opsets, from the attribute; None where neither is given."""
    if call.optional(index) is not None:
        return integer_list(call, index, name)
    return call.integers(name) if name in call.node.attributes else None


def broadcast(call: Call, *shapes: Shape) -> Shape:
    """The shape that `shapes` broadcast to; ModelError where they do not."""
    rank = max(map(len, shapes), default=0)
    sizes = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if sizes[axis] not in (1, size):
                    raise call.invalid(f"shapes {', '.join(map(str, shapes))} do not broadcast")
                sizes[axis] = size
    return tuple(sizes)


def needs_rank(call: Call, index: int, rank: int, why: str) -> Shape:
    """The shape of operand `index`, which must have `rank` axes."""
    shape = call.shape(index)
    if len(shape) != rank:
        raise call.invalid(f"{why} needs {rank} axes, '{call.tensor(index).name}' has the shape {shape}")
    return shape


def needs_float(call: Call, index: int = 0) -> DType:
    """The floating-point type of operand `index`; ModelError for another."""
    dtype = call.tensor(index).dtype
    if not dtype.is_float and call.tensor(index).quantisation is None:
        raise call.invalid(f"'{call.tensor(index).name}' must be floating-point, not {dtype.value}")
    return dtype


def needs_index(call: Call, index: int) -> None:
    """Checks that operand `index` holds int32 or int64 indices."""
    dtype = call.tensor(index).dtype
    if dtype not in (DType.I32, DType.I64):
        raise call.invalid(f"indices '{call.tensor(index).name}' must be int32 or int64, not {dtype.value}")


def checked_indices(call: Call, indices: Array, size: int, operand: int = 1) -> Array:
    """Indices counted from the front, which operand `operand` gives.

    One outside [-size, size) is a ModelError where it is constant, else a UsageError.
    """
    if indices.size and (int(indices.min()) < -size or int(indices.max()) >= size):
        raise call.outside(operand, f"an index lies outside [{-size}, {size})")
    converted: Array = indices.astype("int64")
    converted += (converted < 0) * size
    return converted


def zero_code(call: Call, output: int = 0) -> int:
    """What stands for the real value 0 in an output: its zero point where it is quantised, else 0."""
    quantisation = call.outputs[output].quantisation if call.outputs else None
    if quantisation is None:
        return 0
    if len(set(quantisation.zero_point)) != 1:
        raise call.unsupported("the output has a zero point per channel")
    return quantisation.zero_point[0]


def wanted(call: Call, *types: TensorType) -> tuple[TensorType, ...]:
    """The first of `types`, as many as the node has outputs; ModelError if it asks for more."""
    count = max(len(call.node.outputs), 1)
    if count > len(types):
        raise call.invalid(f"it has {count} outputs, the standard gives {len(types)}")
    return types[:count]
