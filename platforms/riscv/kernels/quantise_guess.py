"""QuantizeLinear of floats where there is no float unit: a code is guessed by a quotient and told by two steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import C_TYPES, code_limits, the_quantisation
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.quantise_steps import QuantiseSteps, refusal, steps
from tilewright.platforms.riscv.platform import PLATFORM

PORTABLE = QuantiseSteps()
LOWEST = -(1 << 31)
"""No float's place is below it."""
SMALLEST, LARGEST = 33, 240
"""Exponents of steps whose quotients are numbers of 32 bits, whatever is divided."""


@dataclass(frozen=True)
class GuessContext:
    """The code of an element is `low` plus that above the lowest; 2^55 over the 24 bits of the step, whose exponent is
    `top`, and the code of 0 above the lowest."""

    elements: int
    code_type: str
    low: int
    inverse: int
    top: int
    zero: int


@PLATFORM.kernel(
    "QuantizeLinear", types="f32, *... -> qi8|qu8", template="quantise_guess.c.mako", layout=("axes", "same"),
    sources=["../../generic/kernels/whole_f32.h", "quantise_guess.h"], preference=8, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class QuantiseGuess(KernelMethods):
    """Codes of floats by a product and two comparisons of integers."""

    def accepts(self, call: Call) -> str | None:
        """One scale that is far from the ends of floats, codes of eight bits."""
        if (refused := refusal(call)) is not None:
            return refused
        top = _bits(call) >> 23
        return None if SMALLEST <= top <= LARGEST else "its scale is too near to the ends of what floats can be"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The smallest float of every code, of which the first has none."""
        portable = steps(operands.call)
        return (replace(portable, values=np.append(np.int32(LOWEST), portable.values)),)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Codes may alias anything: each is written after its float was read."""
        return PORTABLE.overlap(operands)

    def cost(self, call: Call) -> float:
        """Of every element."""
        return 36.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> GuessContext:
        """The numbers of the step."""
        call, y = operands.call, operands.call.outputs[0]
        low, bits = code_limits(call, y)[0], _bits(call)
        zero = int(the_quantisation(y).zero_point[0]) - low
        inverse = ((1 << 55) - 1) // (bits & 0x7FFFFF | 0x800000)
        return GuessContext(y.elements, C_TYPES[y.dtype], low, inverse, bits >> 23, zero)


def _bits(call: Call) -> int:
    """The step as the bits of a float."""
    return int(np.float32(the_quantisation(call.outputs[0]).scale[0]).view(np.uint32))
