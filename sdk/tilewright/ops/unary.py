"""Functions of one number: Abs, Neg, Exp, Log, Sqrt, Floor, Sin, Erf, ..."""

from __future__ import annotations

from tilewright.ops.check import FLOATS, NUMBERS, SIGNED
from tilewright.ops.elementwise import elementwise

FLOAT_BODIES = {
    "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Floor": "floor", "Ceil": "ceil",
    "Round": "round", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos",
    "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh",
    "Atanh": "atanh", "Sigmoid": "sigmoid", "Softplus": "softplus", "Softsign": "softsign", "Mish": "mish",
    "HardSwish": "hard_swish",
}  # fmt: skip

OPERATORS = (
    *(elementwise(name, body) for name, body in FLOAT_BODIES.items()),
    elementwise("Abs", "abs", accepts=NUMBERS),
    elementwise("Sign", "sign", accepts=NUMBERS),
    elementwise("Neg", "neg", accepts=FLOATS | SIGNED),
    elementwise("Relu", "relu", accepts=FLOATS | SIGNED),
)
