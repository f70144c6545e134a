"""Lookup: the code of a result for every code of the operand, made by the lowering of quantised networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import AsIntegers
from tilewright.ops.operator import Call, Operator, TensorType


def lookup_table(call: Call) -> Array:
    """The attribute `table`: one code of the result for every code of the operand, from the lowest on."""
    table = call.node.attributes.get("table")
    low, high = call.tensor(0).dtype.range
    if not isinstance(table, np.ndarray) or table.shape != (high - low + 1,):
        raise call.invalid(f"attribute 'table' must have {high - low + 1} elements")
    return table


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (TensorType(DType.of(lookup_table(call).dtype), call.shape()),)


def _evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    looked_up = lookup_table(call)[codes.astype(np.int64) - call.tensor(0).dtype.range[0]]
    return (np.asarray(looked_up, call.outputs[0].dtype.numpy),)


OPERATORS = (Operator("Lookup", _infer, _evaluate, ("x",), codes=AsIntegers(), batchable=True, channelwise=True),)
