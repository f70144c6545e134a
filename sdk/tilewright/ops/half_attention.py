"""HalfAttention: attention in float32 over caches of keys and values that lie in float16, as many rows as there are.

    y = softmax(scale * q keys') values

The passes make it of standard operators over states; no file contains it. `q` is [1, heads, queries, depth] in float32,
`k` and `v` are [1, key heads, rows, depth] in float16, which float32 holds exactly; several heads may share keys.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.attention_rule import heads, scale
from tilewright.ops.facts import Reads, lengths
from tilewright.ops.operands import Arrays, given, needs_index, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.relayout import DOMAIN


def _infer(call: Call) -> tuple[TensorType, ...]:
    size = heads(call)
    needs_index(call, 3)
    types = tuple(call.tensor(index).dtype for index in range(3))
    if types != (DType.F32, DType.F16, DType.F16) or size.packed or call.shape(3) != (size.batch,):
        raise call.invalid("queries are float32 and caches float16, with four axes each, and one number of rows")
    return (result(call, DType.F32, (size.batch, size.query_heads, size.queries, size.value_depth)),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    size, q = heads(call), given(arrays, 0)
    y = np.zeros((size.batch, size.query_heads, size.queries, size.value_depth), np.float32)
    counts = np.clip(given(arrays, 3), 0, size.keys)
    for entry, count in enumerate(counts):
        if not count:
            continue
        k, v = (
            np.repeat(given(arrays, index)[entry, :, :count].astype(np.float32), size.query_heads // size.key_heads, 0)
            for index in (1, 2)
        )
        scores = (q[entry] @ k.swapaxes(1, 2)) * np.float32(scale(call, size.depth))
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        y[entry] = (powers / powers.sum(-1, keepdims=True)) @ v
    return (y,)


def _reads(call: Call, operand: int) -> Reads | None:
    return lengths(call.shape(1)[2]) if operand == 3 else None


def _products(call: Call) -> int:
    size = heads(call)
    return size.batch * size.query_heads * size.queries * size.keys * (size.depth + size.value_depth)


OPERATORS = (
    Operator(
        "HalfAttention", _infer, _evaluate, ("q", "k", "v", "length"), domain=DOMAIN, reads=_reads, products=_products,
        sketch="half_attention",
    ),
)  # fmt: skip
