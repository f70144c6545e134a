"""Functions of one number: Abs, Neg, Exp, Log, Sqrt, Floor, Sin, Erf, ..."""

from __future__ import annotations

from math import inf, pi, sqrt

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED
from tilewright.ops.codes import Table
from tilewright.ops.elementwise import elementwise
from tilewright.ops.facts import Limits
from tilewright.ops.gradient import by_slope, no_slope
from tilewright.ops.operator import Adjoint
from tilewright.ops.torch import Torch


def _square(a: Adjoint, name: str) -> str:
    return a.mul(name, name)


def _bell(a: Adjoint) -> str:
    """`2 / sqrt(pi) * exp(-x * x)`."""
    return a.mul(a.op("Exp", a.op("Neg", _square(a, a.x()))), a.number(2 / sqrt(pi)))


def _mish(a: Adjoint) -> str:
    """`t + x * (1 - t * t) * sigmoid(x)` where `t = tanh(softplus(x))`."""
    t = a.op("Tanh", a.op("Softplus", a.x()))
    rising = a.mul(a.sub(a.number(1), _square(a, t)), a.op("Sigmoid", a.x()))
    return a.add(t, a.mul(a.x(), rising))


def _hard_swish(a: Adjoint) -> str:
    """0 below -3, 1 above 3, `(2 * x + 3) / 6` between."""
    between = a.add(a.mul(a.x(), a.number(1 / 3)), a.number(0.5))
    right = a.op("Where", a.op("Greater", a.x(), a.number(3)), a.number(1), between)
    return a.where(a.op("Greater", a.x(), a.number(-3)), right)


OPERATORS = (
    elementwise(
        "Exp", "exp", codes=Table(), torch=Torch("torch.exp({0})"), batchable=True, gradient=by_slope(lambda a: a.y)
    ),
    elementwise(
        "Log",
        "log",
        codes=Table(),
        torch=Torch("torch.log({0})"),
        batchable=True,
        gradient=lambda a, index: a.div(a.dy, a.x()),
    ),
    elementwise(
        "Sqrt",
        "sqrt",
        codes=Table(),
        torch=Torch("torch.sqrt({0})"),
        batchable=True,
        gradient=lambda a, index: a.div(a.mul(a.dy, a.number(0.5)), a.y),
    ),
    elementwise(
        "Reciprocal",
        "reciprocal",
        codes=Table(),
        torch=Torch("torch.reciprocal({0})"),
        batchable=True,
        gradient=by_slope(lambda a: a.op("Neg", _square(a, a.y))),
    ),
    elementwise("Floor", "floor", codes=Table(), torch=Torch("torch.floor({0})"), gradient=no_slope),
    elementwise("Ceil", "ceil", codes=Table(), torch=Torch("torch.ceil({0})"), gradient=no_slope),
    elementwise("Round", "round", codes=Table(), torch=Torch("torch.round({0})"), gradient=no_slope),
    elementwise("Erf", "erf", codes=Table(), torch=Torch("torch.erf({0})"), gradient=by_slope(_bell)),
    elementwise(
        "Sin", "sin", codes=Table(), torch=Torch("torch.sin({0})"), gradient=by_slope(lambda a: a.op("Cos", a.x()))
    ),
    elementwise(
        "Cos",
        "cos",
        codes=Table(),
        torch=Torch("torch.cos({0})"),
        gradient=by_slope(lambda a: a.op("Neg", a.op("Sin", a.x()))),
    ),
    elementwise(
        "Tan",
        "tan",
        codes=Table(),
        torch=Torch("torch.tan({0})"),
        gradient=by_slope(lambda a: a.add(_square(a, a.y), a.number(1))),
    ),
    elementwise(
        "Atan",
        "atan",
        codes=Table(),
        torch=Torch("torch.atan({0})"),
        gradient=lambda a, index: a.div(a.dy, a.add(_square(a, a.x()), a.number(1))),
    ),
    elementwise(
        "Sinh", "sinh", codes=Table(), torch=Torch("torch.sinh({0})"), gradient=by_slope(lambda a: a.op("Cosh", a.x()))
    ),
    elementwise(
        "Cosh", "cosh", codes=Table(), torch=Torch("torch.cosh({0})"), gradient=by_slope(lambda a: a.op("Sinh", a.x()))
    ),
    elementwise(
        "Tanh",
        "tanh",
        overwrites=True,
        codes=Table(),
        torch=Torch("torch.tanh({0})"),
        batchable=True,
        gradient=by_slope(lambda a: a.sub(a.number(1), _square(a, a.y))),
    ),
    elementwise(
        "Asinh",
        "asinh",
        codes=Table(),
        torch=Torch("torch.asinh({0})"),
        gradient=lambda a, index: a.div(a.dy, a.op("Sqrt", a.add(_square(a, a.x()), a.number(1)))),
    ),
    elementwise(
        "Sigmoid",
        "sigmoid",
        overwrites=True,
        codes=Table(),
        torch=Torch("torch.sigmoid({0})"),
        batchable=True,
        gradient=by_slope(lambda a: a.mul(a.y, a.sub(a.number(1), a.y))),
    ),
    elementwise(
        "Softplus",
        "softplus",
        codes=Table(),
        torch=Torch("F.softplus({0})"),
        gradient=by_slope(lambda a: a.op("Sigmoid", a.x())),
    ),
    elementwise(
        "Softsign",
        "softsign",
        codes=Table(),
        torch=Torch("F.softsign({0})"),
        gradient=lambda a, index: a.div(a.dy, _square(a, a.add(a.op("Abs", a.x()), a.number(1)))),
    ),
    elementwise("Mish", "mish", codes=Table(), torch=Torch("F.mish({0})"), gradient=by_slope(_mish)),
    elementwise(
        "HardSwish", "hard_swish", codes=Table(), torch=Torch("F.hardswish({0})"), gradient=by_slope(_hard_swish)
    ),
    # They mean nothing for most codes: no table of them is made.
    elementwise(
        "Asin",
        "asin",
        torch=Torch("torch.asin({0})"),
        gradient=lambda a, index: a.div(a.dy, a.op("Sqrt", a.sub(a.number(1), _square(a, a.x())))),
    ),
    elementwise(
        "Acos",
        "acos",
        torch=Torch("torch.acos({0})"),
        gradient=lambda a, index: a.op("Neg", a.div(a.dy, a.op("Sqrt", a.sub(a.number(1), _square(a, a.x()))))),
    ),
    elementwise(
        "Acosh",
        "acosh",
        torch=Torch("torch.acosh({0})"),
        gradient=lambda a, index: a.div(a.dy, a.op("Sqrt", a.sub(_square(a, a.x()), a.number(1)))),
    ),
    elementwise(
        "Atanh",
        "atanh",
        torch=Torch("torch.atanh({0})"),
        gradient=lambda a, index: a.div(a.dy, a.sub(a.number(1), _square(a, a.x()))),
    ),
    elementwise(
        "Abs",
        "abs",
        accepts=NUMBERS,
        codes=Table(),
        torch=Torch("torch.abs({0})"),
        batchable=True,
        gradient=by_slope(lambda a: a.op("Sign", a.x())),
    ),
    elementwise("Sign", "sign", accepts=NUMBERS, codes=Table(), torch=Torch("torch.sign({0})"), gradient=no_slope),
    elementwise(
        "Neg",
        "neg",
        accepts=FLOATS | SIGNED,
        codes=Table(),
        torch=Torch("-{0}"),
        batchable=True,
        gradient=lambda a, index: a.op("Neg", a.dy),
    ),
    elementwise(
        "Relu",
        "relu",
        overwrites=True,
        accepts=FLOATS | SIGNED,
        codes=Table(limits=True),
        torch=Torch("F.relu({0})"),
        limit=lambda call: Limits(0, 0.0, inf),
        batchable=True,
        gradient=lambda a, index: a.where(a.op("Greater", a.y, a.number(0)), a.dy),
    ),
)
