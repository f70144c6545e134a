"""Normalisations on codes in vectors: sums of a row, one inverse root, halves of two products for each element."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, NormalisedForm, normalised_form
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.normalised_i8 import CODES, NormalisedI8
from tilewright.platforms.riscv.platform import PLATFORM

PORTABLE = NormalisedI8()
LANES = 32
ROW, PART, TURN = 210, 20, 45
"""Instructions of a row's root, of a run under one factor, and of thirty-two elements."""
SQUARED = 8
"""Bits of codes whose distance from a zero point has a square of 32 bits."""


@dataclass(frozen=True)
class NormalisedVectorContext:
    """C of the types, bits of elements, and the numbers of the form."""

    x_type: str
    y_type: str
    x_bits: int
    y_bits: int
    signed: bool
    form: NormalisedForm


@PLATFORM.kernel(
    "LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization",
    types=f"{CODES}, f32, f32? -> {CODES}", template="normalised_vector_i8.c.mako", layout="default", preference=30,
    sources=["../../generic/kernels/" + part for part in (
        "fixed.h", "fixed_room.h", "fixed_reciprocal.h", "fixed_root.h",
    )], requires=Needs(has=("rvv",)),
)  # fmt: skip
class NormalisedVectorI8(KernelMethods):
    """The integers of the portable kernel, thirty-two elements at a time."""

    def accepts(self, call: Call) -> str | None:
        """Numbers that integers hold, squares of 32 bits."""
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        form, x = normalised_form(call), call.tensor(0)
        if not form.centred and form.centre and x.dtype.bits > SQUARED:
            return f"'{x.name}' has sixteen bits and a zero point, squares of their difference have more than 32"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Factors and addends of every set of rows."""
        return PORTABLE.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return PORTABLE.in_place(call)

    def cost(self, call: Call) -> float:
        """A root for every row, turns over its elements."""
        rows, turns = normalised_form(call).rows, 0
        turns = rows.length // rows.span * -(-rows.span // LANES) if rows.span > 1 else -(-rows.length // LANES)
        parts = rows.length // rows.span if rows.span > 1 else 1
        return float(call.tensor(0).elements / rows.length * (ROW + parts * PART + turns * TURN))

    def context(self, operands: Operands) -> NormalisedVectorContext:
        """Extents and the form's numbers."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        return NormalisedVectorContext(
            C_TYPES[x.dtype], C_TYPES[y.dtype], x.dtype.bits, y.dtype.bits, x.dtype.is_signed, normalised_form(call)
        )
