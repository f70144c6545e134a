"""Arithmetic with broadcasting: Add, Sub, Mul, Div, Pow, Mod, Min, Max, Sum, Mean."""

from __future__ import annotations

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED, broadcast_shape, typed
from tilewright.ops.codes import Pairwise, Passes
from tilewright.ops.elementwise import elementwise
from tilewright.ops.index.body import Body, body
from tilewright.ops.operator import Call, TensorType
from tilewright.ops.torch import Torch

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
    elementwise(
        "Add",
        "add",
        overwrites=True,
        accepts=NUMBERS,
        operands=PAIR,
        codes=Pairwise(factored=True),
        clamps=True,
        torch=Torch("{0} + {1}"),
    ),
    elementwise(
        "Sub",
        "sub",
        overwrites=True,
        accepts=NUMBERS,
        operands=PAIR,
        codes=Pairwise(factored=True),
        clamps=True,
        torch=Torch("{0} - {1}"),
    ),
    elementwise(
        "Mul",
        "mul",
        overwrites=True,
        accepts=NUMBERS,
        operands=PAIR,
        codes=Pairwise(factored=True),
        clamps=True,
        torch=Torch("{0} * {1}"),
    ),
    elementwise(
        "Div", "div", overwrites=True, accepts=NUMBERS, operands=PAIR, codes=Pairwise(), torch=Torch(writer="divide")
    ),
    elementwise("Mod", _mod, accepts=NUMBERS, operands=PAIR, torch=Torch(writer="mod")),
    elementwise("Pow", "pow", operands=PAIR, rule=_infer_pow, codes=Pairwise(), torch=Torch("{0} ** {1}")),
    elementwise(
        "Min",
        "min",
        overwrites=True,
        accepts=NUMBERS,
        operands=MANY,
        least=1,
        codes=Pairwise(),
        passes=Passes(data=None, whole=False),
        torch=Torch("torch.minimum({0}, {1})", folds=True),
    ),
    elementwise(
        "Max",
        "max",
        overwrites=True,
        accepts=NUMBERS,
        operands=MANY,
        least=1,
        codes=Pairwise(),
        passes=Passes(data=None, whole=False),
        torch=Torch("torch.maximum({0}, {1})", folds=True),
    ),
    elementwise("Sum", "sum", operands=MANY, least=1, torch=Torch("{0} + {1}", folds=True)),
    elementwise("Mean", "mean", operands=MANY, least=1, torch=Torch(writer="mean")),
)
