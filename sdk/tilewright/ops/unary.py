"""Functions of one number: Abs, Neg, Exp, Log, Sqrt, Floor, Sin, Erf, ..."""

from __future__ import annotations

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED
from tilewright.ops.codes import Table
from tilewright.ops.elementwise import elementwise

FLOAT_BODIES = {
    "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Floor": "floor", "Ceil": "ceil",
    "Round": "round", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Atan": "atan", "Sinh": "sinh",
    "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Sigmoid": "sigmoid", "Softplus": "softplus",
    "Softsign": "softsign", "Mish": "mish", "HardSwish": "hard_swish",
}  # fmt: skip
PARTIAL_BODIES = {"Asin": "asin", "Acos": "acos", "Acosh": "acosh", "Atanh": "atanh"}
"""They mean nothing for most codes, so that no table of them is made."""

OPERATORS = (
    *(elementwise(name, body, codes=Table()) for name, body in FLOAT_BODIES.items()),
    *(elementwise(name, body) for name, body in PARTIAL_BODIES.items()),
    elementwise("Abs", "abs", accepts=NUMBERS, codes=Table()),
    elementwise("Sign", "sign", accepts=NUMBERS, codes=Table()),
    elementwise("Neg", "neg", accepts=FLOATS | SIGNED, codes=Table()),
    elementwise("Relu", "relu", accepts=FLOATS | SIGNED, codes=Table(limits=True)),
)
