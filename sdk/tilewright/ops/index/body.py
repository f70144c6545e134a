"""The closed vocabulary of nests: what is computed at a point, how points are combined, how a result is finished.

Every name has one meaning, written here twice: as a NumPy function and as a sentence of scalar C-like code, which a
back end that prints loops must provide under the same name. In the sentences `a b c d e` are the operands in order, `p
q r` the parameters, `t` the combined total, `n` the number of points combined, `T` the element type of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.model import Array
from tilewright.ops.index import scalars as s

Parameters = tuple[float | int, ...]
Function = Callable[..., Array]


@dataclass(frozen=True)
class Meaning:
    """A NumPy function and the same as a scalar sentence."""

    function: Function
    scalar: str


BODIES: Mapping[str, Meaning] = {
    "copy": Meaning(s.copy, "a"),
    "cast": Meaning(s.copy, "(T)a; floats to integers truncate, anything to bool is a != 0"),
    # arithmetic
    "add": Meaning(np.add, "a + b"),
    "sub": Meaning(np.subtract, "a - b"),
    "mul": Meaning(np.multiply, "a * b"),
    "div": Meaning(s.divide, "a / b; integers truncate towards zero"),
    "mod": Meaning(np.mod, "a - floor(a / b) * b; the sign of b"),
    "fmod": Meaning(np.fmod, "a - trunc(a / b) * b; the sign of a"),
    "pow": Meaning(s.power, "pow(a, b) in the type of a"),
    "min": Meaning(s.minimum, "smallest of all operands; NaN if any is NaN"),
    "max": Meaning(s.maximum, "largest of all operands; NaN if any is NaN"),
    "sum": Meaning(s.total, "a + b + ... from left to right"),
    "mean": Meaning(s.average, "(a + b + ...) / number of operands"),
    "neg": Meaning(np.negative, "-a"),
    "abs": Meaning(np.abs, "|a|"),
    "sign": Meaning(np.sign, "(a > 0) - (a < 0)"),
    "square": Meaning(np.square, "a * a"),
    "reciprocal": Meaning(s.reciprocal, "1 / a"),
    "abs_pow": Meaning(s.abs_power, "pow(|a|, p)"),
    "scale": Meaning(s.scale, "a * p"),
    "sq_diff": Meaning(s.squared_difference, "(a - b) * (a - b)"),
    "exp_sub": Meaning(s.exp_difference, "exp(a - b)"),
    "sub_sub": Meaning(s.subtract_twice, "a - b - c"),
    "div_or_zero": Meaning(s.divide_or_zero, "b == 0 ? 0 : a / b"),
    # functions
    "exp": Meaning(np.exp, "exp(a)"),
    "log": Meaning(np.log, "log(a)"),
    "sqrt": Meaning(np.sqrt, "sqrt(a)"),
    "floor": Meaning(np.floor, "floor(a)"),
    "ceil": Meaning(np.ceil, "ceil(a)"),
    "round": Meaning(np.rint, "rint(a): halves to even"),
    "erf": Meaning(s.erf, "erf(a)"),
    "sin": Meaning(np.sin, "sin(a)"),
    "cos": Meaning(np.cos, "cos(a)"),
    "tan": Meaning(np.tan, "tan(a)"),
    "asin": Meaning(np.arcsin, "asin(a)"),
    "acos": Meaning(np.arccos, "acos(a)"),
    "atan": Meaning(np.arctan, "atan(a)"),
    "sinh": Meaning(np.sinh, "sinh(a)"),
    "cosh": Meaning(np.cosh, "cosh(a)"),
    "tanh": Meaning(np.tanh, "tanh(a)"),
    "asinh": Meaning(np.arcsinh, "asinh(a)"),
    "acosh": Meaning(np.arccosh, "acosh(a)"),
    "atanh": Meaning(np.arctanh, "atanh(a)"),
    # activations
    "relu": Meaning(s.relu, "a < 0 ? 0 : a"),
    "clip": Meaning(s.clip, "min(max(a, p), q)"),
    "clip_operands": Meaning(s.clip, "min(max(a, b), c); a limit of NaN limits nothing"),
    "leaky_relu": Meaning(s.leaky_relu, "a < 0 ? p * a : a"),
    "prelu": Meaning(s.leaky_relu, "a < 0 ? b * a : a"),
    "thresholded_relu": Meaning(s.thresholded_relu, "a > p ? a : 0"),
    "elu": Meaning(s.elu, "a < 0 ? p * expm1(a) : a"),
    "selu": Meaning(s.selu, "a > 0 ? q * a : q * p * expm1(a)"),
    "celu": Meaning(s.celu, "max(0, a) + min(0, p * expm1(a / p))"),
    "gelu": Meaning(s.gelu, "0.5 * a * (1 + erf(a / sqrt(2)))"),
    "gelu_tanh": Meaning(s.gelu_tanh, "0.5 * a * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 * a * a * a)))"),
    "sigmoid": Meaning(s.sigmoid, "1 / (1 + exp(-a)), without overflow"),
    "hard_sigmoid": Meaning(s.hard_sigmoid, "max(0, min(1, p * a + q))"),
    "hard_swish": Meaning(s.hard_swish, "a * max(0, min(1, a / 6 + 0.5))"),
    "swish": Meaning(s.swish, "a / (1 + exp(-p * a)), without overflow"),
    "mish": Meaning(s.mish, "a * tanh(log1p(exp(a))), without overflow"),
    "softplus": Meaning(s.softplus, "log(1 + exp(a)), without overflow"),
    "softsign": Meaning(s.softsign, "a / (1 + |a|)"),
    "shrink": Meaning(s.shrink, "a < -p ? a + q : a > p ? a - q : 0"),
    # logic, bits, comparison
    "not": Meaning(np.logical_not, "!a"),
    "and": Meaning(np.logical_and, "a && b"),
    "or": Meaning(np.logical_or, "a || b"),
    "xor": Meaning(np.logical_xor, "a != b, both bool"),
    "bit_not": Meaning(np.bitwise_not, "~a"),
    "bit_and": Meaning(np.bitwise_and, "a & b"),
    "bit_or": Meaning(np.bitwise_or, "a | b"),
    "bit_xor": Meaning(np.bitwise_xor, "a ^ b"),
    "shift_left": Meaning(s.shift_left, "0 <= b < bits ? a << b : 0"),
    "shift_right": Meaning(s.shift_right, "0 <= b < bits ? a >> b, arithmetic : a < 0 ? -1 : 0"),
    "equal": Meaning(np.equal, "a == b"),
    "greater": Meaning(np.greater, "a > b"),
    "less": Meaning(np.less, "a < b"),
    "greater_equal": Meaning(np.greater_equal, "a >= b"),
    "less_equal": Meaning(np.less_equal, "a <= b"),
    "is_nan": Meaning(np.isnan, "a != a"),
    "is_inf": Meaning(s.is_infinite, "(p && a == -inf) || (q && a == inf)"),
    "where": Meaning(np.where, "a ? b : c"),
    "select_equal": Meaning(s.select_equal, "a == b, or both are NaN ? c : p; b is NaN where an a is"),
    # normalisation
    "batch_norm": Meaning(s.batch_norm, "(a - d) / sqrt(e + p) * b + c"),
    "normalise": Meaning(s.normalise, "(a - b) / sqrt(c + p) * d + e; d is 1 and e is 0 where they are missing"),
    "rms_scale": Meaning(s.rms_scale, "a / sqrt(b + p) * c"),
    "standardise": Meaning(s.standardise, "(a - b) / (sqrt(c) + p)"),
    "lrn": Meaning(s.local_response, "a / pow(r + p * b, q)"),
    # quantisation
    "quantise": Meaning(s.quantise, "saturate(rint(a / b) + c) to [p, q]"),
    "dequantise": Meaning(s.dequantise, "(a - c) * b; the difference exact"),
    "mul_offsets": Meaning(s.multiply_offsets, "(a - c) * (b - d) in the type of the result"),
}
"""What may be computed at a point."""

FINISHES: Mapping[str, Meaning] = {
    "keep": Meaning(s.keep, "t"),
    "mean": Meaning(s.mean, "t / n; integers truncate towards zero"),
    "pad_value": Meaning(s.pad_value, "n > 0 ? t : p"),
    "pad_operand": Meaning(s.pad_value, "n > 0 ? t : a"),
    "add": Meaning(s.finish_add, "t + a"),
    "scale": Meaning(s.finish_scale, "t * p"),
    "scale_add": Meaning(s.finish_scale_add, "p * t + q * a"),
    "sqrt": Meaning(s.finish_sqrt, "sqrt(t)"),
    "log": Meaning(s.finish_log, "log(t)"),
    "root": Meaning(s.finish_root, "pow(t, 1 / p)"),
    "finite": Meaning(s.finish_finite, "t; 0 where that is infinite or NaN"),
    "inverse_root": Meaning(s.finish_inverse_root, "1 / sqrt(t / n + p)"),
}
"""What may be done once to every combined total; the operands are the accesses of `after`."""


@dataclass(frozen=True)
class Body:
    """A name of `BODIES`, its function and the parameters that follow the operands."""

    name: str
    function: Function
    parameters: Parameters = ()

    def __call__(self, *operands: Array) -> Array:
        """Values at the points."""
        return self.function(*operands, *self.parameters)

    def text(self, operands: Sequence[str]) -> str:
        """`a * b`, `a`, `leaky_relu(a, 0.1)`."""
        if self.name == "copy":
            return operands[0]
        if self.name == "mul":
            return " * ".join(operands)
        return f"{self.name}({', '.join([*operands, *(f'{p:g}' for p in self.parameters)])})"


@dataclass(frozen=True)
class Finish:
    """A name of `FINISHES`, its function and the parameters that follow total, count and operands."""

    name: str
    function: Function
    parameters: Parameters = ()

    def __call__(self, total: Array, count: Array, *operands: Array) -> Array:
        """Final values from totals and counts."""
        return self.function(total, count, *operands, *self.parameters)

    def text(self, operands: Sequence[str]) -> str:
        """`mean(y)`, `add(y, b[oc])`."""
        return f"{self.name}({', '.join([*operands, *(f'{p:g}' for p in self.parameters)])})"


@dataclass(frozen=True)
class Combine:
    """How points that write the same result join. `set`: exactly one point writes each result."""

    name: str
    symbol: str
    ufunc: np.ufunc | None
    identity: float

    def start(self, dtype: npt.DTypeLike) -> Array:
        """The identity in an element type: the smallest integer stands for minus infinity."""
        kind = np.dtype(dtype)
        if kind.kind in "iu" and np.isinf(self.identity):
            limits = np.iinfo(kind)
            return np.asarray(limits.min if self.identity < 0 else limits.max, kind)
        return np.asarray(self.identity, kind)


COMBINES: Mapping[str, Combine] = {
    c.name: c
    for c in (
        Combine("set", "=", None, 0.0),
        Combine("add", "+=", np.add, 0.0),
        Combine("mul", "*=", np.multiply, 1.0),
        Combine("max", "max=", np.maximum, -np.inf),
        Combine("min", "min=", np.minimum, np.inf),
        Combine("or", "|=", np.logical_or, 0.0),
        Combine("and", "&=", np.logical_and, 1.0),
    )
}
"""How points may be combined."""


def body(name: str, *parameters: float | int) -> Body:
    """The body of this name; KeyError for one that is not in `BODIES`."""
    return Body(name, BODIES[name].function, parameters)


def finish(name: str, *parameters: float | int) -> Finish:
    """The finish of this name; KeyError for one that is not in `FINISHES`."""
    return Finish(name, FINISHES[name].function, parameters)


def combine(name: str) -> Combine:
    """The way to combine of this name; KeyError for one that is not in `COMBINES`."""
    return COMBINES[name]


BODY_COPY = body("copy")
COMBINE_SET = combine("set")
FINISH_KEEP = finish("keep")
