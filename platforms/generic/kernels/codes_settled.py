"""Pairs of codes of any scales in whole numbers: a word decides nearly all, exact products those next to a tie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS, SettledForm, minus, pair_text, settled_form, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.codes import PAIRS, Q, context_of, read_constants, real
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, same_size
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM


def _form(call: Call) -> SettledForm:
    form = settled_form(call)
    assert form is not None, "accepts refuses calls without a form"
    return form


@PLATFORM.kernel(
    *PAIRS, types=f"{Q}, {Q} -> {Q}", template="nest.c.mako", layout=("axes", "same"), preference=2,
    sources=[SHIFTS, "settled.h"], requires=Needs(lacks=("simd",)),
)  # fmt: skip
class SettledCodes(KernelMethods):
    """Add, Sub and Mul of codes of up to sixteen bits, exact where no factors are right for every pair.

    Where floats come in vectors RealCodes is faster.
    """

    def accepts(self, call: Call) -> str | None:
        """Words of at most 64 bits, few of which lie next to a tie."""
        return None if settled_form(call) else "words of 64 bits do not tell which code is the nearest"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes, and what settles a tie."""
        numbers = Constant("numbers", DType.I32, np.array(_form(operands.call).numbers, np.int32))
        return (*read_constants(operands, nests_of(real(operands.call))), numbers)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The form as an expression of both codes."""
        call, settled = operands.call, _form(operands.call)
        form, (y,) = settled.form, call.outputs
        first, second = (minus(f"(int32_t)e{i}", the_quantisation(call.tensor(i)).zero_point[0]) for i in range(2))
        word = pair_text(replace(form, shift=0))
        ties = f"{settled.window}, {the_quantisation(y).zero_point[0]}, {first}, {second}, numbers"
        text = f"tilewright_settled{form.bits}({word}, {form.shift}, {ties})"
        kind = "int64_t" if form.bits == 64 else "int32_t"
        codes = Codes(text, "acc", C_TYPES[y.dtype], form.low, form.high, operand_type=kind)
        return context_of(operands, nests_of(real(call)), [codes], ())
