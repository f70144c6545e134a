"""Constant weights whose sums of products cannot be told: they overflow or not by the order of their terms."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import DType
from tilewright.ops.operator import Call

_RECURRENT = ("LSTM", "GRU", "RNN")


def _terms(call: Call, index: int) -> int:
    """Products of each sum that the constant operand takes part in; 0 where it is no weight of such sums."""
    shape, op = call.shape(index), call.node.op
    if op in _RECURRENT and index in (1, 2):
        return shape[-1]
    if index > 1 or len(shape) < 1:
        return 0
    if op == "Conv":
        return prod(shape[1:]) if index == 1 else 0
    if op == "ConvTranspose":
        return shape[0] // call.integer("group", 1) * prod(shape[2:]) if index == 1 else 0
    if op == "Gemm":
        transposed = bool(call.integer("transA" if index == 0 else "transB", 0))
        return shape[0] if transposed == (index == 0) else shape[-1]
    if op == "MatMul":
        return shape[-1] if index == 0 or len(shape) == 1 else shape[-2]
    return 0


def refuse_overflow(call: Call) -> None:
    """UnsupportedNode where finite float weights are so large that operands of 1 make a partial sum overflow.

    Such a sum is infinite, NaN or a number by the order of its terms, which every kernel and library chooses for
    itself. Infinite weights and NaN are fine: whatever the order, they give what IEEE 754 says.
    """
    if call.node.domain:
        return
    for index, values in call.constants.items():
        dtype = call.tensor(index).dtype
        terms = _terms(call, index) if dtype.is_float else 0
        if terms < 2:
            continue
        largest = float(np.max(np.abs(values), initial=0, where=np.isfinite(values)))
        wide, most = ("f64", np.finfo(np.float64).max) if dtype is DType.F64 else ("f32", np.finfo(np.float32).max)
        if largest > float(most) / terms:
            raise call.unsupported(
                f"whether a sum of {terms} products with weights up to {largest:g} ('{call.tensor(index).name}') "
                f"overflows {wide} depends on the order of its terms",
                "scale the weights down",
            )
