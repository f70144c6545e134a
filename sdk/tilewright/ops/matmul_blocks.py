"""MatMulBlocks: rows of floats by a constant matrix of codes in blocks along the sum, each block with a scale.

The lowering makes it of MatMul behind a DequantizeLinear with `block_size` (and so of MatMulNBits), so that weights
stay codes in read-only memory:

    y[..., n] = sum over k of a[..., k] * (codes[n, k] - zero_point[n, k // block_size]) * scale[n, k // block_size]

`codes` are [N, K], of four or eight bits; `scale` and `zero_point` [N, ceil(K / block_size)]; `bias` has N elements.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.check import typed
from tilewright.ops.operands import Arrays, given, maybe, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType

DOMAIN = "tilewright"
CODES = frozenset({DType.I4, DType.U4, DType.I8, DType.U8})


def block_of(call: Call) -> int:
    """Elements of a row of codes that share a scale."""
    return call.integer("block_size")


def _infer(call: Call) -> tuple[TensorType, ...]:
    a, codes = typed(call, 0, frozenset({DType.F32})), typed(call, 1, CODES)
    block = block_of(call)
    if len(a.shape) < 1 or len(codes.shape) != 2 or a.shape[-1] != codes.shape[1] or block < 1:
        raise call.invalid(f"rows of {list(a.shape)} do not fit codes of {list(codes.shape)} in blocks of {block}")
    columns, depth = codes.shape
    blocks = (columns, -(-depth // block))
    if call.shape(2) != blocks or (call.optional(3) is not None and call.shape(3) != blocks):
        raise call.invalid(f"its scales and zero points must be {list(blocks)}")
    for index in range(1, len(call.inputs)):
        if call.optional(index) is not None:
            call.constant(index, "a part of its weights")
    return (result(call, DType.F32, (*a.shape[:-1], columns)),)


def weights(codes: Array, scale: Array, zero: Array | None, block: int) -> Array:
    """The real weights, [N, K] in float32."""
    depth = codes.shape[1]
    steps = codes.astype(np.int32)
    if zero is not None:
        steps = steps - np.repeat(zero.astype(np.int32), block, axis=1)[:, :depth]
    return np.asarray(steps.astype(np.float32) * np.repeat(scale, block, axis=1)[:, :depth], np.float32)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    matrix = weights(given(arrays, 1), given(arrays, 2), maybe(arrays, 3), block_of(call))
    total = np.matmul(given(arrays, 0), matrix.T)
    bias = maybe(arrays, 4)
    return (np.asarray(total if bias is None else total + bias, np.float32),)


def _products(call: Call) -> int:
    return call.outputs[0].elements * call.shape(1)[1]


OPERATORS = (
    Operator(
        "MatMulBlocks", _infer, _evaluate, ("a", "codes", "scale", "zero_point", "bias"), kind=Kind.OPAQUE,
        domain=DOMAIN, products=_products, sketch="packed_weights",
    ),
)  # fmt: skip
