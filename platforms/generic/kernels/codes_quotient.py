"""Div of codes in integers, checked over every pair."""

from __future__ import annotations

from tilewright.numerics import C_TYPES, SHIFTS, QuotientForm, minus, quotient_form
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.codes import context_of, read_constants, real
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, same_size
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM


def _form(call: Call) -> QuotientForm:
    form = quotient_form(call)
    assert form is not None, "accepts refuses calls without a form"
    return form


@PLATFORM.kernel(
    "Div", types="qi8|qu8, qi8|qu8 -> qi8|qu8", template="nest.c.mako", layout=("axes", "same"), preference=12,
    sources=[SHIFTS, "quotient.h"], requires=Needs(lacks=("simd",)),
)  # fmt: skip
class QuotientCodes(KernelMethods):
    """One multiplication and one division of whole numbers.

    Where floats come in vectors RealCodes is faster.
    """

    def accepts(self, call: Call) -> str | None:
        """An integer form must exist."""
        return None if quotient_form(call) else "no integer form equals the float32 arithmetic on every pair of codes"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, nests_of(real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The form as an expression of both codes."""
        call = operands.call
        form = _form(call)
        a, b = (minus(f"(int32_t)e{i}", zero) for i, zero in enumerate(form.zero_points))
        over_zero = ", ".join(map(str, form.over_zero))
        text = f"tilewright_code_quotient({a}, {b}, {form.multiplier}, {form.addend}, {form.shift}u, {over_zero})"
        codes = Codes(text, "acc", C_TYPES[call.outputs[0].dtype], form.low, form.high, operand_type="int32_t")
        return context_of(operands, nests_of(real(call)), [codes], ())
