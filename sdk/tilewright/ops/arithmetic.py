"""Arithmetic with broadcasting: Add, Sub, Mul, Div, Pow, Mod, Min, Max, Sum, Mean."""

from __future__ import annotations

from math import inf

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED, broadcast_shape, typed
from tilewright.ops.clamp import the_number
from tilewright.ops.codes import Pairwise, Passes
from tilewright.ops.elementwise import elementwise
from tilewright.ops.facts import Limits, Reads
from tilewright.ops.index.body import Body, body
from tilewright.ops.operator import Call, TensorType, of_one
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


def _reads_divisor(call: Call, operand: int) -> Reads | None:
    """An integer divisor is no zero."""
    if operand != 1 or call.tensor(1).dtype.is_float:
        return None
    return Reads(1, min(127, call.tensor(1).dtype.range[1]), "divides by it", None)


def _bounded(call: Call) -> tuple[int, float] | None:
    """The operand that has the result's shape, and the one number that all of the other, a constant, holds."""
    if len(call.inputs) != 2:
        return None
    for place in (0, 1):
        bound = the_number(call, place)
        if bound is not None and 1 - place not in call.constants and call.shape(1 - place) == call.outputs[0].shape:
            return 1 - place, bound
    return None


def _upper(call: Call) -> Limits | None:
    bounds = _bounded(call)
    return Limits(bounds[0], -inf, bounds[1]) if bounds else None


def _lower(call: Call) -> Limits | None:
    bounds = _bounded(call)
    return Limits(bounds[0], bounds[1], inf) if bounds else None


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
        batchable=True,
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
        batchable=True,
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
        batchable=True,
    ),
    elementwise(
        "Div",
        "div",
        overwrites=True,
        accepts=NUMBERS,
        operands=PAIR,
        codes=Pairwise(),
        torch=Torch(writer="divide"),
        reads=_reads_divisor,
        batchable=True,
    ),
    elementwise("Mod", _mod, accepts=NUMBERS, operands=PAIR, torch=Torch(writer="mod"), reads=_reads_divisor),
    elementwise(
        "Pow", "pow", operands=PAIR, rule=_infer_pow, codes=Pairwise(), torch=Torch("{0} ** {1}"), batchable=True
    ),
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
        keeps=of_one,
        limit=_upper,
        batchable=True,
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
        keeps=of_one,
        limit=_lower,
        batchable=True,
    ),
    elementwise("Sum", "sum", operands=MANY, least=1, torch=Torch("{0} + {1}", folds=True), keeps=of_one),
    elementwise("Mean", "mean", operands=MANY, least=1, torch=Torch(writer="mean"), keeps=of_one),
)
