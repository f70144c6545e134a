"""InputRows: an input that the application hands over row by row. `--io stream` inserts it; no model contains it.

The value is the input itself, its axes in the order `perm` where there is one. Rows are steps of axis 2 of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, Shape
from tilewright.ops.codes import Moves
from tilewright.ops.operator import Call, Kind, Operator, TensorType

DOMAIN = "tilewright"


def result_shape(call: Call) -> Shape:
    """The operand's shape with its axes in their new order."""
    x = call.shape(0)
    return tuple(x[axis] for axis in call.integers("perm", tuple(range(len(x)))))


def infer(call: Call) -> tuple[TensorType, ...]:
    """Type of the operand."""
    return (TensorType(call.tensor(0).dtype, result_shape(call)),)


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """The operand in the result's order of axes."""
    x = arrays[0]
    assert x is not None
    return (np.ascontiguousarray(x.transpose(call.integers("perm", tuple(range(x.ndim))))),)


OPERATORS = (
    Operator(
        "InputRows", infer, evaluate, ("x",), kind=Kind.OPAQUE, domain=DOMAIN, codes=Moves(whole=True), folds=False
    ),
)
