"""Softmax on codes in vectors: exponentials are gathered, added in 64 bits, and shared out thirty-two at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import softmax_i8 as portable
from tilewright.platforms.generic.kernels.softmax_few_i8 import is_few
from tilewright.platforms.generic.kernels.softmax_i8 import SoftmaxI8, SoftmaxI8Context
from tilewright.platforms.riscv.platform import PLATFORM

PORTABLE = SoftmaxI8()
SOFTMAX = "../../generic/kernels/softmax.h"
FEW = 4
"""Codes of a line that one after the other take fewer instructions."""


@dataclass(frozen=True)
class SoftmaxVectorContext:
    """The numbers of the portable kernel, whether operands have a sign, and the bits of a result."""

    portable: SoftmaxI8Context
    signed: bool
    y_bits: int


@PLATFORM.kernel(
    "Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="softmax_vector_i8.c.mako", layout=("axes", "same"),
    sources=[SOFTMAX], preference=30, requires=Needs(has=("rvv", "fpu64")),
)  # fmt: skip
class SoftmaxVectorI8(KernelMethods):
    """Softmax on codes; the quotients of the portable kernel, those next to a tie divided as there."""

    def accepts(self, call: Call) -> str | None:
        """Exact codes; lines of more than a few codes."""
        if (why := portable.refusal(call)) is not None:
            return why
        few = is_few(call) and PORTABLE.context(Operands(call)).length <= FEW
        return "SoftmaxFewI8 takes fewer instructions for lines of so few codes" if few else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return PORTABLE.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return PORTABLE.in_place(call)

    def cost(self, call: Call) -> float:
        """Some forty instructions for thirty-two elements, and those of a line."""
        length = PORTABLE.context(Operands(call)).length
        return call.outputs[0].elements / length * (1.3 * length + 75.0)

    def context(self, operands: Operands) -> SoftmaxVectorContext:
        """Extents and the quotient's numbers."""
        x, y = operands.call.tensor(0), operands.call.outputs[0]
        return SoftmaxVectorContext(PORTABLE.context(operands), x.dtype.is_signed, y.dtype.bits)
