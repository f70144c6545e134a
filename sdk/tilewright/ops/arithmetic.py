"""Arithmetic with broadcasting: Add, Sub, Mul, Div, Pow, Mod, Min, Max, Sum, Mean."""

from __future__ import annotations

from math import inf

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED, broadcast_shape, typed
from tilewright.ops.clamp import the_number
from tilewright.ops.codes import Pairwise, Passes, Table
from tilewright.ops.elementwise import elementwise
from tilewright.ops.facts import Limits, Reads
from tilewright.ops.index.body import Body, body
from tilewright.ops.operator import Adjoint, Call, TensorType, of_one
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


def _back(a: Adjoint, name: str, index: int) -> str:
    return a.unbroadcast(name, a.shape(index))


def _passes(a: Adjoint, index: int) -> str:
    return _back(a, a.dy, index)


def _difference(a: Adjoint, index: int) -> str:
    passed = _back(a, a.dy, index)
    return a.op("Neg", passed) if index else passed


def _product(a: Adjoint, index: int) -> str:
    return _back(a, a.mul(a.dy, a.x(1 - index)), index)


def _quotient(a: Adjoint, index: int) -> str:
    """`dy / b` to the dividend, `-dy * y / b` to the divisor."""
    return _back(a, a.div(a.dy if index == 0 else a.op("Neg", a.mul(a.dy, a.y)), a.x(1)), index)


def _power(a: Adjoint, index: int) -> str:
    """`dy * b * pow(x, b - 1)` to the base, `dy * y * log(x)` to the exponent."""
    if index == 0:
        slope = a.mul(a.x(1), a.op("Pow", a.x(), a.sub(a.x(1), a.number(1))))
    else:
        slope = a.mul(a.y, a.op("Log", a.x()))
    return _back(a, a.mul(a.dy, slope), index)


def _chosen(a: Adjoint, index: int) -> str:
    """The gradient goes where the result comes from, in equal parts to operands that are equal."""
    chosen = [a.op("CastLike", a.op("Equal", a.x(place), a.y), a.y) for place in range(len(a.call.inputs))]
    shared = a.div(a.dy, a.op("Sum", *chosen))
    return _back(a, a.mul(shared, chosen[index]), index)


def _average(a: Adjoint, index: int) -> str:
    return _back(a, a.mul(a.dy, a.number(1 / len(a.call.inputs))), index)


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
        gradient=_passes,
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
        gradient=_difference,
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
        gradient=_product,
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
        gradient=_quotient,
    ),
    elementwise("Mod", _mod, accepts=NUMBERS, operands=PAIR, torch=Torch(writer="mod"), reads=_reads_divisor),
    elementwise(
        "Pow",
        "pow",
        operands=PAIR,
        rule=_infer_pow,
        codes=Table(),
        torch=Torch("{0} ** {1}"),
        batchable=True,
        gradient=_power,
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
        gradient=_chosen,
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
        gradient=_chosen,
    ),
    elementwise(
        "Sum",
        "sum",
        operands=MANY,
        least=1,
        torch=Torch("{0} + {1}", folds=True),
        keeps=of_one,
        gradient=_passes,
    ),
    elementwise(
        "Mean",
        "mean",
        operands=MANY,
        least=1,
        torch=Torch(writer="mean"),
        keeps=of_one,
        gradient=_average,
    ),
)
