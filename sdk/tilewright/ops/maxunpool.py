"""MaxUnpool: the maxima of a MaxPool put back where its indices say, zero elsewhere."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import Array, Shape
from tilewright.ops.facts import Reads, indices
from tilewright.ops.operands import Arrays, checked_indices, given, integer_list, needs_index, result, zero_code
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def pooled_shape(call: Call) -> Shape:
    """The shape that the pool's attributes give; indices count in a tensor of this shape."""
    shape = call.shape()
    rank = len(shape) - 2
    if rank < 1:
        raise call.invalid(f"MaxUnpool needs at least 3 axes, not {shape}")
    kernel = call.integers("kernel_shape")
    strides, pads = call.integers("strides", (1,) * rank), call.integers("pads", (0,) * (2 * rank))
    if not len(kernel) == len(strides) == rank or len(pads) != 2 * rank:
        raise call.invalid(f"kernel_shape {kernel}, strides {strides} and pads {pads} do not fit {shape}")
    spatial = [
        (size - 1) * stride - pads[axis] - pads[axis + rank] + kernel[axis]
        for axis, (size, stride) in enumerate(zip(shape[2:], strides, strict=True))
    ]
    return (*shape[:2], *spatial)


def _infer(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    if call.shape(1) != call.shape():
        raise call.invalid(f"indices {call.shape(1)} and data {call.shape()} differ in shape")
    pooled = result(call, call.tensor(0).dtype, pooled_shape(call))
    if call.optional(2) is None:
        return (pooled,)
    output_shape = integer_list(call, 2, "the output shape")
    if len(output_shape) != len(pooled.shape) or any(a < b for a, b in zip(output_shape, pooled.shape, strict=True)):
        raise call.invalid(f"the output shape {output_shape} is smaller than {pooled.shape}")
    return (result(call, pooled.dtype, output_shape),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, pooled = given(arrays, 0), pooled_shape(call)
    zero = np.asarray(zero_code(call)).astype(x.dtype)
    flat = np.full(prod(pooled), zero)
    flat[checked_indices(call, given(arrays, 1), flat.size).reshape(-1)] = x.reshape(-1)
    unpooled = np.full(call.outputs[0].shape, zero)
    unpooled[tuple(slice(size) for size in pooled)] = flat.reshape(pooled)
    return (unpooled,)


def _reads(call: Call, operand: int) -> Reads | None:
    size = call.outputs[0].elements
    return indices(size, f"places among {size} elements") if operand == 1 else None


_OPERANDS = ("x", "indices", "output_shape")
OPERATORS = (Operator("MaxUnpool", _infer, _evaluate, _OPERANDS, kind=Kind.OPAQUE, sketch="unpool", reads=_reads),)
