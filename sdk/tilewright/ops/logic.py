"""Comparison, logic and bits: Equal, Greater, And, Not, BitwiseAnd, BitShift, IsNaN, Where, ..."""

from __future__ import annotations

from tilewright.model import DType
from tilewright.ops.check import BOOLEANS, FLOATS, NUMBERS, SIGNED, UNSIGNED, broadcast_shape, same_type, typed
from tilewright.ops.codes import Moves, Passes
from tilewright.ops.elementwise import elementwise
from tilewright.ops.index.body import Body, body
from tilewright.ops.operator import Adjoint, Call, TensorType
from tilewright.ops.torch import Torch

PAIR = ("a", "b")
COMPARISONS = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
"""Operators that say how two numbers stand to one another."""
INTEGERS = SIGNED | UNSIGNED


def _shift(call: Call) -> Body:
    direction = call.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise call.invalid(f"attribute 'direction' is '{direction}', it must be 'LEFT' or 'RIGHT'")
    return body("shift_left" if direction == "LEFT" else "shift_right")


def _is_infinite(call: Call) -> Body:
    return body("is_inf", call.integer("detect_negative", 1), call.integer("detect_positive", 1))


def _infer_where(call: Call) -> tuple[TensorType, ...]:
    typed(call, 0, BOOLEANS)
    for index in (1, 2):
        typed(call, index, NUMBERS | BOOLEANS)
    dtype = same_type(call, 1, 2)
    return (TensorType(dtype, broadcast_shape(call, call.shape(0), call.shape(1), call.shape(2))),)


def _where_gradient(a: Adjoint, index: int) -> str:
    if index == 0:
        return ""
    zero = a.number(0)
    branches = (a.dy, zero) if index == 1 else (zero, a.dy)
    return a.unbroadcast(a.op("Where", a.x(0), *branches), a.shape(index))


OPERATORS = (
    elementwise(
        "Equal", "equal", accepts=NUMBERS | BOOLEANS, operands=PAIR, result=DType.BOOL, torch=Torch("{0} == {1}")
    ),
    elementwise("Greater", "greater", accepts=NUMBERS, operands=PAIR, result=DType.BOOL, torch=Torch("{0} > {1}")),
    elementwise("Less", "less", accepts=NUMBERS, operands=PAIR, result=DType.BOOL, torch=Torch("{0} < {1}")),
    elementwise(
        "GreaterOrEqual", "greater_equal", accepts=NUMBERS, operands=PAIR, result=DType.BOOL, torch=Torch("{0} >= {1}")
    ),
    elementwise(
        "LessOrEqual", "less_equal", accepts=NUMBERS, operands=PAIR, result=DType.BOOL, torch=Torch("{0} <= {1}")
    ),
    elementwise("And", "and", accepts=BOOLEANS, operands=PAIR, torch=Torch("{0} & {1}")),
    elementwise("Or", "or", accepts=BOOLEANS, operands=PAIR, torch=Torch("{0} | {1}")),
    elementwise("Xor", "xor", accepts=BOOLEANS, operands=PAIR, torch=Torch("{0} ^ {1}")),
    elementwise("Not", "not", accepts=BOOLEANS, torch=Torch("torch.logical_not({0})")),
    elementwise("IsNaN", "is_nan", accepts=FLOATS, result=DType.BOOL, torch=Torch("torch.isnan({0})")),
    elementwise("IsInf", _is_infinite, accepts=FLOATS, result=DType.BOOL),
    elementwise("BitwiseAnd", "bit_and", accepts=INTEGERS, operands=PAIR, torch=Torch("{0} & {1}")),
    elementwise("BitwiseOr", "bit_or", accepts=INTEGERS, operands=PAIR, torch=Torch("{0} | {1}")),
    elementwise("BitwiseXor", "bit_xor", accepts=INTEGERS, operands=PAIR, torch=Torch("{0} ^ {1}")),
    elementwise("BitwiseNot", "bit_not", accepts=INTEGERS, torch=Torch("~{0}")),
    elementwise("BitShift", _shift, accepts=INTEGERS, operands=PAIR),
    elementwise(
        "Where",
        "where",
        operands=("condition", "a", "b"),
        rule=_infer_where,
        codes=Moves(data=(1, 2)),
        passes=Passes(data=(1, 2), whole=False),
        torch=Torch(writer="where"),
        sketch="where",
        gradient=_where_gradient,
    ),
)
