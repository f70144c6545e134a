"""Instructions of Sigmoid, Tanh, Exp, Gelu and their kin in vectors of floats, by one exponential of a polynomial.

The operand lies in v8 and so does the result; v0, v16 and v24 are free. What is no number stays none: limits are merged
in, since the smaller of two values were the one that is a number.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
from tilewright.numerics import literal
from tilewright.platform import DType
from tilewright.platforms.generic.kernels.exponential_f32 import CURVE, FARTHEST, HIGH_PART
from tilewright.platforms.generic.kernels.functions_f32 import ERROR_END, ERROR_POWER
from tilewright.platforms.riscv.kernels.strips import StripText

Body = Callable[[StripText, tuple[str, ...], tuple[float, ...]], None]
"""Adds the instructions of a body over values, vector registers or scalars; its result lies in v8."""
SMALLEST_POWER, LARGEST_POWER = -89.0, 87.4
"""Between them an exponential of a negative power is a normal float; beyond them infinite, or 0."""
LOGARITHM = (
    0.9999999748542905, -0.49999552592635155, 0.33320342749357224, -0.24852939508855343,
    0.1914509143680334, -0.13746567908674479, 0.07921009045094252, -0.030110560357570648, 0.005383959971368313,
)  # fmt: skip
"""log(1 + u) / u within 2.7e-8 of itself for u up to 1; from the lowest power on."""
INNER, CUBIC = 1.5957691216057308, 0.07135481627
"""Gelu by Tanh is x times the logistic function of these times x and its cube."""


def number(text: StripText, name: str, value: float) -> str:
    """A constant in a float register."""
    return text.input(name, literal(DType.F32, value), "f")


def _limited(text: StripText, beyond: str, name: str, limit: float) -> None:
    bound = number(text, name, limit)
    text(f"{beyond} v0, v16, {bound}", f"vfmerge.vfm v16, v16, {bound}, v0")


def _polynomial(text: StripText, to: str, name: str, values: tuple[float, ...]) -> None:
    """A polynomial of v16, whose coefficients stand from the lowest power on, in another register."""
    names = [number(text, f"{name}{at}", value) for at, value in enumerate(values)]
    text(f"vfmul.vf {to}, v16, {names[-1]}", f"vfadd.vf {to}, {to}, {names[-2]}")
    for each in reversed(names[:-2]):
        text(f"vfmul.vv {to}, {to}, v16", f"vfadd.vf {to}, {to}, {each}")


def _curve(text: StripText, bias: int = 127) -> None:
    """Of powers in v16: exp(-rest) - 1 in v0 and 2^(bias - 127 - whole) in v24."""
    text(f"vfmul.vf v24, v16, {number(text, 'turns', 1 / log(2))}", "vfcvt.x.f.v v24, v24", "vfcvt.f.x.v v0, v24")
    text(f"vfnmsac.vf v16, {number(text, 'high_part', HIGH_PART)}, v0")
    text(f"vfmacc.vf v16, {number(text, 'low_part', float(np.float32(HIGH_PART - log(2))))}, v0")
    text(f"vrsub.vx v24, v24, {text.input('bias', str(bias))}", "vsll.vi v24, v24, 23")
    _polynomial(text, "v0", "curve", CURVE)
    text("vfmul.vv v0, v0, v16", "vfmsub.vv v0, v16, v16")


def _left(text: StripText, bias: int = 127) -> None:
    """exp(-power) of v16 in v0."""
    _curve(text, bias)
    text("vfmadd.vv v0, v24, v24")


def powers_left(text: StripText) -> None:
    """exp(-power) in v0 of powers in v16 that are not negative; v24 is free."""
    _limited(text, "vmfgt.vf", "farthest", FARTHEST)
    _left(text)


def logarithms(text: StripText) -> None:
    """log(total) in v8 of totals in v8 that are 1 at least; v0, v16 and v24 are free."""
    text("vsrl.vi v24, v8, 23", f"vadd.vx v24, v24, {text.input('bias', '-127')}", "vfcvt.f.x.v v24, v24")
    text(f"vand.vx v16, v8, {text.input('fraction', '0x7FFFFF')}")
    text(
        f"vor.vx v16, v16, {text.input('whole', '0x3F800000')}", f"vfadd.vf v16, v16, {number(text, 'minus_one', -1.0)}"
    )
    text("vfsub.vv v8, v8, v8")  # what is no number stays none
    _polynomial(text, "v0", "logarithm", LOGARITHM)
    text("vfmacc.vv v8, v16, v0", f"vfmacc.vf v8, {number(text, 'log_two', log(2))}, v24")


def _lost(text: StripText) -> None:
    """exp(-power) - 1 of v16 in v0."""
    _curve(text)
    text(f"vfadd.vf v16, v24, {number(text, 'minus_one', -1.0)}", "vfmadd.vv v0, v24, v16")


def _logistic(text: StripText) -> None:
    """1 / (1 + exp(-t)) in v24, of |t| in v16 and the sign of t in v8."""
    one, zero = number(text, "one", 1.0), number(text, "zero", 0.0)
    _limited(text, "vmfgt.vf", "farthest", FARTHEST)
    _left(text)
    text(f"vfadd.vf v16, v0, {one}", "vmv.v.v v24, v0", f"vmfge.vf v0, v8, {zero}")
    text(f"vfmerge.vfm v24, v24, {one}, v0", "vfdiv.vv v24, v24, v16")


def _sigmoid(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text("vfabs.v v16, v8")
    _logistic(text)
    text("vmv.v.v v8, v24")


def _swish(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    (slope,) = parameters
    text("vfabs.v v16, v8")
    if slope != 1.0:
        text(f"vfmul.vf v16, v16, {number(text, 'slope', slope)}")
    _logistic(text)
    text("vfmul.vv v8, v8, v24")


def _gelu_tanh(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text("vfmul.vv v16, v8, v8", f"vfmul.vf v16, v16, {number(text, 'cubic', CUBIC)}")
    text(f"vfadd.vf v16, v16, {number(text, 'inner', INNER)}", "vfmul.vv v16, v16, v8", "vfabs.v v16, v16")
    _logistic(text)
    text("vfmul.vv v8, v8, v24")


def _tanh(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text("vfabs.v v16, v8", "vfadd.vv v16, v16, v16")
    _limited(text, "vmfgt.vf", "farthest", FARTHEST)
    _lost(text)
    text(f"vfadd.vf v16, v0, {number(text, 'two', 2.0)}", "vfdiv.vv v0, v0, v16", "vfsgnj.vv v8, v0, v8")


def _exp(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text("vfneg.v v16, v8")
    _limited(text, "vmfgt.vf", "largest", LARGEST_POWER)
    _limited(text, "vmflt.vf", "smallest", SMALLEST_POWER)
    _left(text, 126)
    text("vfadd.vv v8, v0, v0")  # the largest power of 2 is no float


def _error(text: StripText) -> None:
    """-erf(t) in v0, of |t| in v16."""
    _limited(text, "vmfgt.vf", "error_end", ERROR_END)
    _polynomial(text, "v24", "error", ERROR_POWER)
    text("vfmul.vv v16, v16, v24")
    _lost(text)


def _erf(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text("vfabs.v v16, v8")
    _error(text)
    text("vfsgnj.vv v8, v0, v8")


def _gelu(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    text(f"vfmul.vf v16, v8, {number(text, 'root_of_half', 0.5**0.5)}", "vfabs.v v16, v16")
    _error(text)
    text("vfsgnj.vv v16, v0, v8", f"vfsub.vf v16, v16, {number(text, 'minus_one', -1.0)}")
    text(f"vfmul.vf v8, v8, {number(text, 'half', 0.5)}", "vfmul.vv v8, v8, v16")


def _elu(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    """What is below 0 becomes `alpha` times what the exponential lacks; what is not is multiplied, if at all."""
    alpha, gamma = (*parameters, 1.0)[:2]
    text("vfabs.v v16, v8")
    _limited(text, "vmfgt.vf", "farthest", FARTHEST)
    _lost(text)
    text(f"vfmul.vf v16, v0, {number(text, 'alpha', float(np.float32(alpha) * np.float32(gamma)))}")
    text(f"vmflt.vf v0, v8, {number(text, 'zero', 0.0)}")
    if gamma != 1.0:
        text(f"vfmul.vf v8, v8, {number(text, 'gamma', gamma)}")
    text("vmerge.vvm v8, v8, v16, v0")


def _larger(text: StripText) -> None:
    """The larger of x and 0, and the logarithm of 1 and what exp(-|x|) leaves, in v16."""
    zero = number(text, "zero", 0.0)
    text("vfabs.v v16, v8")
    _limited(text, "vmfgt.vf", "farthest", FARTHEST)
    _left(text)
    text("vmv.v.v v16, v0")
    _polynomial(text, "v24", "logarithm", LOGARITHM)
    text("vfmul.vv v24, v24, v16", "vmv.v.v v16, v8", f"vmflt.vf v0, v8, {zero}")
    text(f"vfmerge.vfm v16, v16, {zero}, v0", "vfadd.vv v16, v16, v24")


def _softplus(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    _larger(text)
    text("vmv.v.v v8, v16")


def _mish(text: StripText, values: tuple[str, ...], parameters: tuple[float, ...]) -> None:
    """x times Tanh of its Softplus."""
    _larger(text)
    text("vfadd.vv v16, v16, v16")
    _limited(text, "vmfgt.vf", "farthest", FARTHEST)
    _lost(text)
    text(f"vfadd.vf v16, v0, {number(text, 'two', 2.0)}", "vfdiv.vv v0, v0, v16", "vfneg.v v0, v0")
    text("vfmul.vv v8, v8, v0")


FUNCTION_BODIES: dict[str, tuple[int, Body]] = {
    "sigmoid": (1, _sigmoid), "swish": (1, _swish), "tanh": (1, _tanh), "exp": (1, _exp), "erf": (1, _erf),
    "gelu": (1, _gelu), "gelu_tanh": (1, _gelu_tanh), "elu": (1, _elu), "selu": (1, _elu),
    "softplus": (1, _softplus), "mish": (1, _mish),
}  # fmt: skip
"""Operands of every function, and its instructions."""
