"""Arithmetic with broadcasting: Add, Sub, Mul, Div, Pow, Mod, Min, Max, Sum, Mean."""

from __future__ import annotations

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED, broadcast_shape, typed
from tilewright.ops.codes import Pairwise
from tilewright.ops.elementwise import elementwise
from tilewright.ops.index.body import Body, body
from tilewright.ops.operator import Call, TensorType

PAIR = ("a", "b")
MANY = ("x...",)


def _mod(call: Call) -> Body:
    fmod = call.integer("fmod", 0)
    if fmod not in (0, 1):
        raise call.invalid(f"attribute 'fmod' is {fmod}, it must be 0 or 1")
    return body("fmod" if fmod else "mod")


def _infer_pow(call: Call) -> tuple[TensorType, ...]:
    base = typed(call, 0, FLOATS | SIGNED)
    typed(call, 1, NUMBERS)
    return (TensorType(base.dtype, broadcast_shape(call, base.shape, call.shape(1))),)


OPERATORS = (
    elementwise("Add", "add", accepts=NUMBERS, operands=PAIR, codes=Pairwise(factored=True)),
    elementwise("Sub", "sub", accepts=NUMBERS, operands=PAIR, codes=Pairwise(factored=True)),
    elementwise("Mul", "mul", accepts=NUMBERS, operands=PAIR, codes=Pairwise(factored=True)),
    elementwise("Div", "div", accepts=NUMBERS, operands=PAIR, codes=Pairwise()),
    elementwise("Mod", _mod, accepts=NUMBERS, operands=PAIR),
    elementwise("Pow", "pow", operands=PAIR, rule=_infer_pow, codes=Pairwise()),
    elementwise("Min", "min", accepts=NUMBERS, operands=MANY, least=1, codes=Pairwise()),
    elementwise("Max", "max", accepts=NUMBERS, operands=MANY, least=1, codes=Pairwise()),
    elementwise("Sum", "sum", operands=MANY, least=1),
    elementwise("Mean", "mean", operands=MANY, least=1),
)
