"""Softmax on codes in vectors: exponentials are gathered, added in 64 bits at once, and shared out four at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import softmax_axis, softmax_form
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import softmax_i8 as portable
from tilewright.platforms.generic.kernels.softmax_few_i8 import is_few
from tilewright.platforms.generic.kernels.softmax_i8 import SoftmaxI8, SoftmaxI8Context

PORTABLE = SoftmaxI8()
SOFTMAX = "../../generic/kernels/softmax.h"
LANES = 4
"""A line of so many codes is one vector."""


@dataclass(frozen=True)
class SoftmaxCodesContext:
    """The numbers of the portable kernel, and the bits of a result."""

    portable: SoftmaxI8Context
    unsigned: bool
    y_bits: int


@PLATFORM.kernel(
    "Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="mve_softmax_codes.c.mako", layout=("axes", "same"),
    sources=["mve.h", SOFTMAX], preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class SoftmaxCodesMve(KernelMethods):
    """Softmax on codes; the quotients of the portable kernel, those next to a tie divided as there."""

    def accepts(self, call: Call) -> str | None:
        """Exact codes, and quotients of 32 bits; lines of more than a few codes."""
        if (why := portable.refusal(call)) is not None:
            return why
        few = is_few(call) and call.shape(0)[softmax_axis(call)] != LANES
        return "SoftmaxFewI8 takes fewer instructions for lines of so few codes" if few else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes, the farthest first."""
        values = softmax_form(operands.call).exponentials[::-1]
        return (Constant("exponentials", DType.U32, np.ascontiguousarray(values)),)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return PORTABLE.in_place(call)

    def cost(self, call: Call) -> float:
        """Some twenty-eight instructions for four elements, and those of a line."""
        length = PORTABLE.context(Operands(call)).length
        return call.outputs[0].elements / length * (7.0 * length + 160.0)

    def context(self, operands: Operands) -> SoftmaxCodesContext:
        """Extents and the quotient's numbers."""
        x, y = operands.call.tensor(0), operands.call.outputs[0]
        return SoftmaxCodesContext(PORTABLE.context(operands), x.dtype is DType.U8, y.dtype.bits)
