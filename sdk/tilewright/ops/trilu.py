"""Trilu: the upper or lower triangle of the last two axes, zero elsewhere."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.operands import Arrays, given, integer_scalar, same, zero_code
from tilewright.ops.operator import Call, Operator, TensorType


def diagonal(call: Call) -> int:
    """How far above the main diagonal the triangle begins; limited to the matrix."""
    rows, columns = call.shape()[-2:]
    k = 0 if call.optional(1) is None else integer_scalar(call, 1, "k")
    return max(-rows, min(columns, k))


def _infer(call: Call) -> tuple[TensorType, ...]:
    if len(call.shape()) < 2:
        raise call.invalid(f"Trilu needs at least 2 axes, not {call.shape()}")
    diagonal(call)
    return (same(call),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, k = given(arrays, 0), diagonal(call)
    rows, columns = np.ogrid[: x.shape[-2], : x.shape[-1]]
    kept = columns - rows >= k if call.integer("upper", 1) else columns - rows <= k
    return (np.where(kept, x, np.asarray(zero_code(call)).astype(x.dtype)),)


OPERATORS = (Operator("Trilu", _infer, _evaluate, ("x", "k")),)
