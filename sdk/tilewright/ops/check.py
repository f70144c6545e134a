"""Demands on operands that many shape rules share; each raises the `ModelError` that names the node."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType, Shape, Tensor
from tilewright.ops.operator import Call

FLOATS = frozenset({DType.F16, DType.BF16, DType.F32, DType.F64})
SIGNED = frozenset({DType.I8, DType.I16, DType.I32, DType.I64})
UNSIGNED = frozenset({DType.U8, DType.U16, DType.U32, DType.U64})
NUMBERS = FLOATS | SIGNED | UNSIGNED
BYTES = frozenset({DType.I8, DType.U8})
BOOLEANS = frozenset({DType.BOOL})
Types = frozenset[DType]


def typed(call: Call, index: int, accepts: Types = FLOATS) -> Tensor:
    """The operand, whose element type must be one of these; codes of a quantised tensor stand for real values."""
    tensor = call.tensor(index)
    if tensor.dtype not in accepts and tensor.quantisation is None:
        raise call.invalid(f"operand '{tensor.name}' has type {tensor.dtype.value}, which {call.node.op} does not take")
    return tensor


def same_type(call: Call, *indices: int) -> DType:
    """The element type that all these operands share; omitted ones and quantised ones are not asked."""
    tensors = [t for i in indices if (t := call.optional(i)) is not None]
    plain = [t for t in tensors if t.quantisation is None]
    for tensor in plain[1:]:
        if tensor.dtype is not plain[0].dtype:
            raise call.invalid(
                f"operands '{plain[0].name}' ({plain[0].dtype.value}) and '{tensor.name}' ({tensor.dtype.value}) "
                "must have the same type"
            )
    return tensors[0].dtype


def ranked(call: Call, index: int, least: int, most: int | None = None) -> Shape:
    """The shape of an operand whose rank must lie in these bounds."""
    tensor = call.tensor(index)
    rank = len(tensor.shape)
    if rank < least or (most is not None and rank > most):
        expected = f"at least {least}" if most is None else str(least) if most == least else f"{least} to {most}"
        raise call.invalid(f"operand '{tensor.name}' has {rank} axes, it must have {expected}")
    return tensor.shape


def shaped(call: Call, index: int, shape: Shape, what: str) -> None:
    """An operand that must have exactly this shape where it is given."""
    tensor = call.optional(index)
    if tensor is not None and tensor.shape != shape:
        raise call.invalid(f"{what} '{tensor.name}' has shape {list(tensor.shape)}, it must be {list(shape)}")


def one_axis(call: Call, rank: int, default: int | None = None, name: str = "axis") -> int:
    """The attribute `axis` counted from the front."""
    axis = call.integer(name, default)
    if not -rank <= axis < max(rank, 1):
        raise call.invalid(f"{name} {axis} is outside of a tensor with {rank} axes")
    return axis + rank if axis < 0 else axis


def broadcast_shape(call: Call, *shapes: Shape) -> Shape:
    """The shape that all these broadcast to; sizes may be of any magnitude."""
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            listed = " and ".join(str(list(shape)) for shape in shapes)
            raise call.invalid(f"shapes {listed} cannot be broadcast together")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def given(arrays: Array | None, call: Call, index: int) -> Array:
    """The array of an operand that must be there."""
    if arrays is None:
        raise call.invalid(f"operand {index} is missing")
    return arrays


def widened(array: Array) -> Array:
    """Half precision as single precision, everything else as it is: half is computed in single and rounded once."""
    return array.astype(np.float32) if array.dtype == np.float16 else array
