"""Layer and RMS normalisation in fixed point: rows fill 31 bits, one inverse root a row, two products an element."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import NormForm, fixed_norm
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class NormContext:
    """`rows`, and the numbers of the form."""

    rows: int
    form: NormForm


@PLATFORM.kernel(
    "LayerNormalization", "RMSNormalization", types="qi32, f32, f32? -> qi32", template="fixed_norm.c.mako",
    sources=["fixed.h", "fixed_down.h", "fixed_moved.h", "fixed_room.h", "fixed_reciprocal.h", "fixed_root.h"],
)  # fmt: skip
class FixedNorm(KernelMethods):
    """Every row by its own size."""

    def accepts(self, call: Call) -> str | None:
        """Constant factors and addends, the only result."""
        if any(index not in call.constants for index in range(1, len(call.inputs)) if call.optional(index)):
            return "its scale or bias is computed at run time"
        return empty(call) or (None if len(call.outputs) == 1 else "the mean or the deviation is asked for")

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Factor and addend of each element of a row."""
        form = fixed_norm(operands.call)
        factors = Constant("factors", DType.I32, form.factors)
        return (factors, Constant("addends", DType.I32, form.addends)) if form.addends.size else (factors,)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Rows are written where they lie while they are read."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Passes for the size, the mean and the squares, and one with two products; an inverse root a row."""
        form, elements = fixed_norm(call), call.tensor(0).elements
        return (44.0 if form.centred else 28.0) * elements + 150.0 * elements / form.length

    def context(self, operands: Operands) -> NormContext:
        """Rows and numbers."""
        form = fixed_norm(operands.call)
        return NormContext(operands.call.tensor(0).elements // form.length, form)
