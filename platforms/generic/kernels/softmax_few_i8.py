"""Softmax on codes over lines of a few elements: one division a line, nothing that is repeated.

Of `M`, as in `softmax_i8`, sixteen bits are a constant and sixteen a quotient of 32 bits, both rounded up. So it is too
large by less than 2^-14 of what it is, and a product by less than `window`: what lies less than that beside a tie, one
in sixty of all, is divided exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.numerics import softmax_axis, softmax_form
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels import softmax_i8
from tilewright.platforms.generic.kernels.softmax_i8 import Quotient, SoftmaxI8Context
from tilewright.platforms.generic.platform import PLATFORM

PORTABLE = softmax_i8.SoftmaxI8()
MOST = 6
"""Elements of a line whose powers stay in registers."""
SUMS_OF_WORDS = 3
"""Powers of at most 2^30 whose sum fits 32 bits."""
UPPER, HALF = 46, 1 << 16
ROUNDED = 4
"""What rounds the halves of `M`, in units of 2^-16 of it, with what is left of their product."""


@dataclass(frozen=True)
class SoftmaxFewContext:
    """The numbers of the portable kernel, with `scale` times 2^46 over a sum as `M`, and the window beside ties."""

    portable: SoftmaxI8Context
    quotient: Quotient
    scale: int
    window: int
    wide: bool


def is_few(call: Call) -> bool:
    """True for lines that this kernel computes in fewer instructions than one with loops."""
    few = 1 < call.shape(0)[softmax_axis(call)] <= MOST and call.outputs[0].dtype.bits == 8
    return few and quotient_of(call) is not None


def quotient_of(call: Call) -> tuple[Quotient, int, int] | None:
    """The numbers of a quotient, the constant half of `M` and the window; None where ties would lie too near."""
    quotient = softmax_i8.quotient_of(softmax_form(call))
    numerator = quotient.numerator
    if -(-numerator >> UPPER) >= HALF:  # the product of both halves would leave the word
        numerator >>= 1
        quotient = replace(quotient, numerator=numerator, half=quotient.half >> 1, shift=quotient.shift - 1)
    window = (numerator >> softmax_i8.WORD) * ROUNDED // HALF + ROUNDED
    return (quotient, -(-numerator >> UPPER), window) if 8 * window < 1 << quotient.shift else None


@PLATFORM.kernel(
    "Softmax", types="qi8|qu8 -> qi8|qu8", template="softmax_few_i8.c.mako", layout=("axes", "same"),
    sources=["softmax.h"], preference=11,
)  # fmt: skip
class SoftmaxFewI8(KernelMethods):
    """Softmax on codes in integers, every element of a line in turn."""

    def accepts(self, call: Call) -> str | None:
        """Exact codes, two to six elements, steps that are not too fine."""
        if (why := softmax_i8.refusal(call)) is not None:
            return why
        return None if is_few(call) else f"the kernel takes lines of 2 to {MOST} elements, and codes far from ties"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return PORTABLE.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A line is read before its results are written."""
        return PORTABLE.in_place(call)

    def context(self, operands: Operands) -> SoftmaxFewContext:
        """Extents and the quotient's numbers."""
        numbers = quotient_of(operands.call)
        assert numbers is not None, "accepts refuses quotients without numbers"
        portable = PORTABLE.context(operands)
        return SoftmaxFewContext(portable, *numbers, wide=portable.length > SUMS_OF_WORDS)
