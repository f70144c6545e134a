"""Pairs of codes in integers where no factors are right for all of them: one comparison, and a list of a few pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.numerics import C_TYPES, NearForm, near_form, pair_text
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.codes import PAIRS, Q, context_of, pair_of, read_constants, real
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, same_size
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM


def near_of(call: Call) -> NearForm | None:
    """The form and list of an Add, Sub or Mul."""
    assert call.operator is not None
    return near_form(call.operator, call)


@PLATFORM.kernel(
    *PAIRS, types=f"qi8|qu8, qi8|qu8 -> {Q}", template="nest.c.mako", layout=("axes", "same"), preference=12,
    sources=["near.h"], requires=Needs(lacks=("simd",)),
)  # fmt: skip
class NearCodes(KernelMethods):
    """Add, Sub and Mul of codes in integers; pairs next to a step of the result are looked up.

    Where floats come in vectors RealCodes is faster: a list is asked element by element.
    """

    def accepts(self, call: Call) -> str | None:
        """A form must be wrong for a few pairs only, and save a width or floats."""
        right, near = pair_of(call), near_of(call)
        if near is None:
            return "too many pairs of codes lie next to a step of the result"
        if right is not None and right.bits <= near.form.bits:
            return f"factors of {right.bits} bits are right for every pair of codes"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes, and the list of pairs."""
        near = near_of(operands.call)
        assert near is not None
        pairs = Constant("pairs", DType.U16, np.array(near.listed or (0,), np.uint16))
        return (*read_constants(operands, nests_of(real(operands.call))), pairs)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The form as an expression of both codes."""
        call = operands.call
        near = near_of(call)
        assert near is not None
        form = near.form
        word = "int64_t" if form.bits == 64 else "int32_t"
        sum_text = pair_text(replace(form, shift=0))
        listed = f"pairs, {len(near.listed)}, (int32_t)e0, (int32_t)e1"
        text = f"tilewright_near{form.bits}({sum_text}, {form.shift}, {near.window}, {listed})"
        codes = Codes(text, "acc", C_TYPES[call.outputs[0].dtype], form.low, form.high, operand_type=word)
        return context_of(operands, nests_of(real(call)), [codes], ())
