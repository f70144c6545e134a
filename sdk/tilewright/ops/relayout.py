"""Relayout: the same tensor in another memory order. Binding inserts it; no model contains it."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

DOMAIN = "tilewright"
ROW_SOURCES = frozenset(("Relayout", "InputRows"))
"""Operators of ours that hand rows on as they are, and at which a chain of rows may begin."""


def infer(call: Call) -> tuple[TensorType, ...]:
    """Type and shape of the operand."""
    x = call.tensor(0)
    return (TensorType(x.dtype, x.shape),)


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """The operand itself: memory order is no part of a value."""
    x = arrays[0]
    assert x is not None
    return (x,)


OPERATORS = (
    Operator("Relayout", infer, evaluate, operands=("x",), domain=DOMAIN, codes=Moves(whole=True), torch=Torch("{0}")),
)
