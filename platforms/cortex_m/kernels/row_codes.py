"""Rows coded as they come on cores with a floating-point unit: sizes compared as bits, codes without limits."""

from __future__ import annotations

from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.row_codes import RowCodes as Portable
from tilewright.platforms.generic.kernels.row_codes import RowContext

PORTABLE = Portable()
LEAST = 1e-30
"""127 divided by this, or by more, is no infinity."""


@PLATFORM.kernel(
    "RowCodes", types="f32 -> i8, f32", template="row_codes_fpu.c.mako", numerics="exact",
    sources=["dsp.h", "in_order.h"], preference=20, requires=Needs(has=("dsp", "fpu")),
)  # fmt: skip
class RowCodesFpu(KernelMethods):
    """A row with infinities or what is no number goes the way of the portable kernel."""

    def accepts(self, call: Call) -> str | None:
        """Divisors that leave factors finite."""
        if call.real("least") < LEAST:
            return f"a divisor may be less than {LEAST}"
        return PORTABLE.accepts(call)

    def cost(self, call: Call) -> float:
        """Two passes over the elements."""
        return 9.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> RowContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)
