"""Sigmoid, Tanh, Exp, Gelu and their kin of floats where there is no float unit: whole numbers from bits to bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.platform import PLATFORM

GATES = ["fixed.h", "fixed_reciprocal.h", "whole_functions.h", "whole_sigmoid.h", "whole_tanh.h"]
SOURCES = [
    "whole_f32.h", *GATES, "whole_error.h", "whole_erf.h", "whole_gelu.h", "whole_gelu_tanh.h", "whole_exp.h",
    "whole_lost.h", "whole_softplus.h", "whole_mish.h", "whole_hard_sigmoid.h", "whole_hard_swish.h",
]  # fmt: skip
OPERATORS = (
    "Sigmoid", "Swish", "Tanh", "Erf", "Gelu", "Elu", "Selu", "Exp", "Mish", "Softplus", "HardSigmoid", "HardSwish",
)  # fmt: skip
LARGEST_OFFSET = 2.0
"""Either way, of a line whose values are numbers in fixed point."""
INSTRUCTIONS = {
    "sigmoid": 70, "swish": 95, "tanh": 100, "erf": 85, "gelu": 96, "gelu_tanh": 130, "elu": 60, "selu": 75,
    "exp": 56, "mish": 115, "softplus": 115, "hard_sigmoid": 61, "hard_swish": 41,
}  # fmt: skip
"""Of an element on RV32IMC, by the names of `tilewright.ops.index.body`."""


@dataclass(frozen=True)
class WholeFunctionContext:
    """The bits of a result, C of `a`, the bits of an operand; the loop runs from `first` to `end`, C both."""

    first: str
    end: str
    value: str


@PLATFORM.kernel(
    *OPERATORS, types="f32 -> f32", template="functions_whole.c.mako", layout=("axes", "same"), sources=SOURCES,
    numerics="1e-6", preference=5, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class FunctionsWhole(KernelMethods):
    """Polynomials for powers of 2 and for logarithms, one reciprocal; within 1.6e-7 of the true value, relative to it
    where that is no sum that cancels, as Gelu's and a hard line's are: they are within 1e-7 of their operand's size.
    """

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, no activation behind, and a line that fixed point can hold."""
        if call.node.clamp is not None:
            return "an activation is fused behind it, the kernel has none"
        body = call.nests[0].body
        if body.name == "hard_sigmoid" and not abs(float(body.parameters[1])) <= LARGEST_OFFSET:
            return f"its offset is {body.parameters[1]}, at most {LARGEST_OFFSET} either way can be"
        return None if call.outputs[0].elements else "the tensor has no elements"

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may lie where the operand lay."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Of every element."""
        return float(INSTRUCTIONS[call.nests[0].body.name] * call.outputs[0].elements)

    def context(self, operands: Operands) -> WholeFunctionContext:
        """The count and the function's text."""
        body = operands.call.nests[0].body
        parameters = [float(p) for p in body.parameters]
        form = FORMS.get(body.name)
        value = f"tilewright_whole_{body.name}(a)" if form is None else form(parameters)
        return WholeFunctionContext("0", str(operands.call.outputs[0].elements), value)


def bits(value: float) -> str:
    """C of the bits of a float."""
    return f"0x{int(np.float32(value).view(np.uint32)):08X}u"


def times(factor: float, value: str) -> str:
    """C of a multiple, by the constant's bits."""
    return value if factor == 1.0 else f"tilewright_whole_times({bits(factor)}, {value})"


def _swish(parameters: list[float]) -> str:
    return f"tilewright_whole_times(a, tilewright_whole_sigmoid({times(parameters[0], 'a')}))"


def _elu(parameters: list[float]) -> str:
    return f"(a >> 31 != 0u ? {times(parameters[0], 'tilewright_whole_lost(a)')} : a)"


def _selu(parameters: list[float]) -> str:
    alpha, gamma = parameters
    below = times(float(np.float32(gamma) * np.float32(alpha)), "tilewright_whole_lost(a)")
    return f"(a >> 31 != 0u ? {below} : {times(gamma, 'a')})"


def _hard_sigmoid(parameters: list[float]) -> str:
    slope, offset = (float(np.float32(p)) for p in parameters)
    return f"tilewright_whole_hard_sigmoid(a, {bits(slope)}, {round(offset * 2.0**28)})"


FORMS: dict[str, Callable[[list[float]], str]] = {
    "swish": _swish, "elu": _elu, "selu": _selu, "hard_sigmoid": _hard_sigmoid,
}  # fmt: skip
"""C of functions with parameters; the others are functions of their own name."""
