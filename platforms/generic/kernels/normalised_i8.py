"""Layer and RMS normalisation on codes: sums, one root and one reciprocal a row, two products for each element."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, NormalisedForm, normalised_form
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.platform import PLATFORM

CODES = "qi8|qu8|qi16|qu16"


@dataclass(frozen=True)
class NormalisedContext:
    """C of the first row and of the end, and the numbers of the form."""

    x_type: str
    y_type: str
    first: str
    end: str
    has_addends: bool
    form: NormalisedForm


@PLATFORM.kernel(
    "LayerNormalization", "RMSNormalization", types=f"{CODES}, f32, f32? -> {CODES}", template="normalised_i8.c.mako",
    sources=["normalised.h"], layout="default", preference=10,
)  # fmt: skip
class NormalisedI8(KernelMethods):
    """Normalised codes in integers."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Factor and addend of each element of a row."""
        form = normalised_form(operands.call)
        factors = Constant("factors", DType.I32, form.factors)
        return (factors, Constant("addends", DType.I32, form.addends)) if form.addends.any() else (factors,)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),) if call.tensor(0).dtype.bits == call.outputs[0].dtype.bits else ()

    def cost(self, call: Call) -> float:
        """A pass for the sums, and one with two long products an element; a root and a division a row."""
        elements = call.tensor(0).elements
        return 24.0 * elements + 400.0 * elements / normalised_form(call).length

    def context(self, operands: Operands) -> NormalisedContext:
        """Extents and the form's numbers."""
        call, form = operands.call, normalised_form(operands.call)
        x, y = call.tensor(0), call.outputs[0]
        rows = x.elements // form.length
        return NormalisedContext(C_TYPES[x.dtype], C_TYPES[y.dtype], "0", str(rows), bool(form.addends.any()), form)
