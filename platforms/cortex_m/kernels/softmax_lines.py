"""Softmax on floats over any axis: cores without vectors read lines as fast where their elements lie apart."""

from __future__ import annotations

from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.softmax_f32 import SoftmaxF32, SoftmaxF32Context, lines_refused

PORTABLE = SoftmaxF32()
TEMPLATE, *FUNCTIONS = (
    f"../../generic/kernels/{name}" for name in ("softmax_f32.c.mako", "vectorised.h", "functions.h")
)


@PLATFORM.kernel(
    "Softmax", types="f32 -> f32", template=TEMPLATE, layout=("axes", "same"), sources=FUNCTIONS, numerics="1e-6",
    preference=20, requires=Needs(has=("fpu",), lacks=("mve",)),
)  # fmt: skip
class SoftmaxLinesFpu(KernelMethods):
    """The portable kernel's lines, over any axis."""

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, and no activation behind."""
        return lines_refused(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each element is read for the last time just before its result is written."""
        return PORTABLE.in_place(call)

    def cost(self, call: Call) -> float:
        """That of the portable kernel."""
        return PORTABLE.cost(call)

    def context(self, operands: Operands) -> SoftmaxF32Context:
        """The numbers of the lines."""
        return PORTABLE.context(operands)
