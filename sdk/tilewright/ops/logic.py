"""Comparison, logic and bits: Equal, Greater, And, Not, BitwiseAnd, BitShift, IsNaN, Where, ..."""

from __future__ import annotations

from tilewright.model import DType
from tilewright.ops.check import BOOLEANS, FLOATS, NUMBERS, SIGNED, UNSIGNED, broadcast_shape, same_type, typed
from tilewright.ops.elementwise import elementwise
from tilewright.ops.index.body import Body, body
from tilewright.ops.operator import Call, TensorType

PAIR = ("a", "b")
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


ORDERED = {"Greater": "greater", "Less": "less", "GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal"}

OPERATORS = (
    elementwise("Equal", "equal", accepts=NUMBERS | BOOLEANS, operands=PAIR, result=DType.BOOL),
    *(elementwise(n, b, accepts=NUMBERS, operands=PAIR, result=DType.BOOL) for n, b in ORDERED.items()),
    *(elementwise(n, n.lower(), accepts=BOOLEANS, operands=PAIR) for n in ("And", "Or", "Xor")),
    elementwise("Not", "not", accepts=BOOLEANS),
    elementwise("IsNaN", "is_nan", accepts=FLOATS, result=DType.BOOL),
    elementwise("IsInf", _is_infinite, accepts=FLOATS, result=DType.BOOL),
    *(elementwise(f"Bitwise{n}", f"bit_{n.lower()}", accepts=INTEGERS, operands=PAIR) for n in ("And", "Or", "Xor")),
    elementwise("BitwiseNot", "bit_not", accepts=INTEGERS),
    elementwise("BitShift", _shift, accepts=INTEGERS, operands=PAIR),
    elementwise("Where", "where", operands=("condition", "a", "b"), rule=_infer_where),
)
