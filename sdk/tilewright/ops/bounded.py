"""Results whose length data decides, as they lie in memory: a bound, zeros behind what there is, and a count."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.operands import result
from tilewright.ops.operator import Call, TensorType

BOUND = "bound"
"""The attribute of a node whose results are padded; in a file the checker refuses it."""


def bound(call: Call) -> int | None:
    """The extent of the axes whose length data decides; None where the length is known."""
    return length_bound(call) if has_bound(call) else None


def has_bound(call: Call) -> bool:
    """True where data decides the length of the results."""
    return BOUND in call.node.attributes


def length_bound(call: Call) -> int:
    """The extent of the axes whose length data decides."""
    return call.integer(BOUND)


def known(call: Call, index: int) -> Array:
    """The value of an operand that decides the shape of the results, where there is no bound."""
    if index not in call.constants:
        raise call.unsupported(
            f"its output shape depends on the values of '{call.tensor(index).name}', which is computed at run time",
            "end the model before this node, or freeze that input with --freeze",
        )
    return call.constants[index]


def counted(call: Call, *results: TensorType) -> tuple[TensorType, ...]:
    """The results of a bounded call with the count behind them."""
    return (*results, result(call, DType.I64, (1,)))


def padded(values: Array, extent: int, axis: int = 0) -> Array:
    """The first `extent` elements along the axis, zeros behind them where there are fewer."""
    first = values.take(np.arange(min(extent, values.shape[axis])), axis)
    shape: Shape = (*values.shape[:axis], extent - first.shape[axis], *values.shape[axis + 1 :])
    return np.concatenate((first, np.zeros(shape, values.dtype)), axis)


def count_of(length: int, extent: int) -> Array:
    """The count of a result of `length` elements of which `extent` are kept."""
    return np.array([min(length, extent)], np.int64)
