"""CodedAttention: attention over caches of codes, as many rows of them as there are.

    y = softmax(scale * q keys') values,  keys[j] = k[j] * k_most[j] * k_unit, values likewise

The passes make it of standard operators over states; no file contains it. `q` is [1, heads, queries, depth], `k` and
`v` are [1, heads, rows, depth] in int8, each row with one largest element for all heads [1, 1, rows, 1].
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.facts import Reads, lengths
from tilewright.ops.operands import Arrays, given, needs_index, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.relayout import DOMAIN


def _infer(call: Call) -> tuple[TensorType, ...]:
    q, k, v = (call.shape(index) for index in (0, 1, 3))
    needs_index(call, 5)
    codes = all(call.tensor(index).dtype is DType.I8 for index in (1, 3))
    shares = all(call.shape(index) == (1, 1, k[2], 1) for index in (2, 4)) if len(k) == 4 else False
    if not codes or not shares or len(q) != 4 or len(v) != 4 or call.shape(5) != (1,):
        raise call.invalid("keys and values are codes with one largest element for each row, and their number")
    if q[:2] != k[:2] or k[:3] != v[:3] or q[0] != 1 or q[3] != k[3]:
        raise call.invalid(f"queries {q}, keys {k} and values {v} do not fit")
    return (result(call, DType.F32, (*q[:3], v[3])),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    q = given(arrays, 0)
    count = int(np.clip(given(arrays, 5).reshape(-1)[0], 0, call.shape(1)[2]))
    keys, values = (
        given(arrays, at)[:, :, :count].astype(np.float32)
        * (given(arrays, at + 1)[:, :, :count] * np.float32(call.real(unit)))
        for at, unit in ((1, "k_unit"), (3, "v_unit"))
    )
    if not count:
        return (np.zeros((*q.shape[:3], values.shape[3]), np.float32),)
    scores = (q @ keys.swapaxes(2, 3)) * np.float32(call.real("scale"))
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    shares = powers / powers.sum(-1, keepdims=True)
    return ((shares @ values).astype(np.float32),)


def _reads(call: Call, operand: int) -> Reads | None:
    return lengths(call.shape(1)[2]) if operand == 5 else None


def _products(call: Call) -> int:
    heads, queries = call.shape(0)[1:3]
    return heads * queries * call.shape(1)[2] * (call.shape(1)[3] + call.shape(3)[3])


OPERATORS = (
    Operator(
        "CodedAttention", _infer, _evaluate, ("q", "k", "k_most", "v", "v_most", "length"), domain=DOMAIN, reads=_reads,
        products=_products, sketch="coded_attention",
    ),
)  # fmt: skip
