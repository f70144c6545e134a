"""Functions of one number: Abs, Neg, Exp, Log, Sqrt, Floor, Sin, Erf, ..."""

from __future__ import annotations

from math import inf

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED
from tilewright.ops.codes import Table
from tilewright.ops.elementwise import elementwise
from tilewright.ops.facts import Limits
from tilewright.ops.torch import Torch

OPERATORS = (
    elementwise("Exp", "exp", codes=Table(), torch=Torch("torch.exp({0})"), batchable=True),
    elementwise("Log", "log", codes=Table(), torch=Torch("torch.log({0})"), batchable=True),
    elementwise("Sqrt", "sqrt", codes=Table(), torch=Torch("torch.sqrt({0})"), batchable=True),
    elementwise("Reciprocal", "reciprocal", codes=Table(), torch=Torch("torch.reciprocal({0})"), batchable=True),
    elementwise("Floor", "floor", codes=Table(), torch=Torch("torch.floor({0})")),
    elementwise("Ceil", "ceil", codes=Table(), torch=Torch("torch.ceil({0})")),
    elementwise("Round", "round", codes=Table(), torch=Torch("torch.round({0})")),
    elementwise("Erf", "erf", codes=Table(), torch=Torch("torch.erf({0})")),
    elementwise("Sin", "sin", codes=Table(), torch=Torch("torch.sin({0})")),
    elementwise("Cos", "cos", codes=Table(), torch=Torch("torch.cos({0})")),
    elementwise("Tan", "tan", codes=Table(), torch=Torch("torch.tan({0})")),
    elementwise("Atan", "atan", codes=Table(), torch=Torch("torch.atan({0})")),
    elementwise("Sinh", "sinh", codes=Table(), torch=Torch("torch.sinh({0})")),
    elementwise("Cosh", "cosh", codes=Table(), torch=Torch("torch.cosh({0})")),
    elementwise("Tanh", "tanh", overwrites=True, codes=Table(), torch=Torch("torch.tanh({0})"), batchable=True),
    elementwise("Asinh", "asinh", codes=Table(), torch=Torch("torch.asinh({0})")),
    elementwise(
        "Sigmoid", "sigmoid", overwrites=True, codes=Table(), torch=Torch("torch.sigmoid({0})"), batchable=True
    ),
    elementwise("Softplus", "softplus", codes=Table(), torch=Torch("F.softplus({0})")),
    elementwise("Softsign", "softsign", codes=Table(), torch=Torch("F.softsign({0})")),
    elementwise("Mish", "mish", codes=Table(), torch=Torch("F.mish({0})")),
    elementwise("HardSwish", "hard_swish", codes=Table(), torch=Torch("F.hardswish({0})")),
    # They mean nothing for most codes: no table of them is made.
    elementwise("Asin", "asin", torch=Torch("torch.asin({0})")),
    elementwise("Acos", "acos", torch=Torch("torch.acos({0})")),
    elementwise("Acosh", "acosh", torch=Torch("torch.acosh({0})")),
    elementwise("Atanh", "atanh", torch=Torch("torch.atanh({0})")),
    elementwise("Abs", "abs", accepts=NUMBERS, codes=Table(), torch=Torch("torch.abs({0})"), batchable=True),
    elementwise("Sign", "sign", accepts=NUMBERS, codes=Table(), torch=Torch("torch.sign({0})")),
    elementwise("Neg", "neg", accepts=FLOATS | SIGNED, codes=Table(), torch=Torch("-{0}"), batchable=True),
    elementwise(
        "Relu",
        "relu",
        overwrites=True,
        accepts=FLOATS | SIGNED,
        codes=Table(limits=True),
        torch=Torch("F.relu({0})"),
        limit=lambda call: Limits(0, 0.0, inf),
        batchable=True,
    ),
)
