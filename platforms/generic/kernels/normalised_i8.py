"""Normalisations on codes: sums, one inverse root a row, upper halves of two products for each element."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, NormalisedForm, has_normalised_form, normalised_form
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
    form: NormalisedForm


@PLATFORM.kernel(
    "LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization",
    types=f"{CODES}, f32, f32? -> {CODES}", template="normalised_i8.c.mako", layout="default", preference=10,
    sources=["fixed.h", "fixed_moved.h", "fixed_room.h", "fixed_reciprocal.h", "fixed_root.h"],
)  # fmt: skip
class NormalisedI8(KernelMethods):
    """Normalised codes in integers."""

    def accepts(self, call: Call) -> str | None:
        """Numbers that integers hold."""
        return None if has_normalised_form(call) else "its codes cannot be normalised in integers"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Factors and addends of every set of rows."""
        form = normalised_form(operands.call)
        parts = zip(("factors", "addends"), (form.factors, form.addends), strict=True)
        return tuple(Constant(name, DType.I32, values.reshape(-1)) for name, values in parts)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),) if call.tensor(0).dtype.bits == call.outputs[0].dtype.bits else ()

    def cost(self, call: Call) -> float:
        """A pass for the sums, and one with two long products an element; a root and a division a row."""
        elements = call.tensor(0).elements
        return 26.0 * elements + 160.0 * elements / normalised_form(call).rows.length

    def context(self, operands: Operands) -> NormalisedContext:
        """Extents and the form's numbers."""
        call, form = operands.call, normalised_form(operands.call)
        x, y = call.tensor(0), call.outputs[0]
        return NormalisedContext(C_TYPES[x.dtype], C_TYPES[y.dtype], "0", str(form.rows.count), form)
