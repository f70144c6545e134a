"""Sigmoid, Tanh, Erf and their kin in float, by one exponential of a negative number and no call of the library."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import literal
from tilewright.platform import Call, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.exponential_f32 import Exponential, coefficients, exponential
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.platform import PLATFORM

ERROR_POWER = (
    1.128379225730896, 0.6366164684295654, 0.10281441360712051, -0.01932172104716301, 0.0002057222736766562,
    0.0012517423601821065, -0.00038099917583167553, 4.070773138664663e-05,
)  # fmt: skip
"""`erf(t) = 1 - exp(-t * (these, from the lowest power on))` within 3.6e-8 of itself up to ERROR_END, where it is 1.

Minimax by least squares, whose weights are raised where the error is largest; so are those below.
"""
ERROR_NEAR = (
    1.1283791065216064, -0.37612324953079224, 0.11280179768800735, -0.02671131119132042, 0.004917551297694445,
    -0.0005631420644931495,
)  # fmt: skip
"""`erf(t) = t * (these, from the lowest power of t^2 on)` within 4e-8 of itself up to 1, where most values are."""
ERROR_END = 3.95


@dataclass(frozen=True)
class Function:
    """C of one function of `a`: `t` is what it looks at, `power` the exponent without its sign, not negative. `value`
    reads `lost = exp(-power) - 1` and `left = exp(-power)`.
    """

    t: str
    power: str
    value: str


@dataclass(frozen=True)
class FunctionContext:
    """Every number and text that the template prints; coefficients stand from the highest power on. The loop runs from
    `first` to `end`, C both.
    """

    attribute: str
    first: str
    end: str
    function: Function
    error: tuple[str, ...]
    error_near: tuple[str, ...]
    error_end: str
    exponential: Exponential


_SIGNED = "(t < 0.0f ? -({0}) : t > 0.0f ? {0} : t)"
_SIGMOID = "(t < 0.0f ? left : t >= 0.0f ? 1.0f : t) / (1.0f + left)"
_TANH = _SIGNED.format("-lost / (lost + 2.0f)")
_ERF = _SIGNED.format("-lost")

FUNCTIONS = {
    "sigmoid": Function("a", "fabsf(t)", _SIGMOID),
    "swish": Function("{p} * a", "fabsf(t)", f"a * ({_SIGMOID})"),
    "tanh": Function("a", "2.0f * fabsf(t)", _TANH),
    "gelu_tanh": Function(
        "0.797884583f * (a + 0.0447149985f * a * a * a)", "2.0f * fabsf(t)", f"0.5f * a * (1.0f + {_TANH})"
    ),
    "erf": Function("a", "", _ERF),
    "gelu": Function("a * 0.707106769f", "", f"0.5f * a * (1.0f + {_ERF})"),
    "elu": Function("a", "fabsf(t)", "t < 0.0f ? {p} * lost : a"),
    "selu": Function("a", "fabsf(t)", "{q} * (t < 0.0f ? {p} * lost : a)"),
}
"""By the names of `tilewright.ops.index.body`; p and q are its parameters, no `power` stands for that of erf."""


@PLATFORM.kernel(
    "Sigmoid", "Swish", "Tanh", "Erf", "Gelu", "Elu", "Selu", types="f32 -> f32", template="functions_f32.c.mako",
    layout=("axes", "same"), sources=["vectorised.h", "functions.h"], numerics="1e-6", preference=5,
    requires=Needs(has=("fpu",)),
)  # fmt: skip
class FunctionsF32(KernelMethods):
    """One exponential by a polynomial of degree six; within 2.1e-7 of the true value, relative to it."""

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, and no activation behind."""
        if call.node.clamp is not None:
            return "an activation is fused behind it, the kernel has none"
        return None if call.outputs[0].elements else "the tensor has no elements"

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may lie where the operand lay."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Some thirty-five instructions per element."""
        return 35.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> FunctionContext:
        """The numbers and the function's text."""
        body = operands.call.nests[0].body
        parameters = {key: literal(DType.F32, float(p)) for key, p in zip("pq", body.parameters, strict=False)}
        form = FUNCTIONS[body.name]
        return FunctionContext(
            attribute=ATTRIBUTE,
            first="0",
            end=str(operands.call.outputs[0].elements),
            function=Function(form.t.format(**parameters), form.power, form.value.format(**parameters)),
            error=() if form.power else coefficients(ERROR_POWER),
            error_near=coefficients(ERROR_NEAR),
            error_end=literal(DType.F32, ERROR_END),
            exponential=exponential(),
        )
