"""DynamicQuantizeLinear where there is no float unit: one step in floats, codes of all elements in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.codes_dynamic import DynamicCodes
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.platform import PLATFORM

PORTABLE = DynamicCodes()
SOURCES = ["nearest.h", "whole_f32.h", "whole_codes.h"]


@dataclass(frozen=True)
class WholeCodesContext:
    """How many elements."""

    elements: int


@PLATFORM.kernel(
    "DynamicQuantizeLinear", types="f32 -> u8, f32, u8", template="whole_codes.c.mako", layout="default",
    sources=SOURCES, numerics="exact", preference=6, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeCodes(KernelMethods):
    """The range by the order of the bits, a reciprocal of the step, a division where a quotient is next to a half."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, of some elements."""
        return PORTABLE.accepts(call) or empty(call)

    def cost(self, call: Call) -> float:
        """Of every element, and of the step."""
        return 28.0 * call.tensor(0).elements + 1500.0

    def context(self, operands: Operands) -> WholeCodesContext:
        """The count."""
        return WholeCodesContext(operands.call.tensor(0).elements)
