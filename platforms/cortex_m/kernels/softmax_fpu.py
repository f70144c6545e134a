"""Softmax and LogSoftmax on floats over any axis by a single-precision unit, four elements of a line a turn."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import softmax_axis
from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.softmax_f32 import SoftmaxF32, SoftmaxF32Context, lines_refused

PORTABLE = SoftmaxF32()
FEW = 16
"""Elements of a line up to which all lines are raised at once, and a line stands in registers before and behind."""
SOURCES = [REGISTERS, "functions_fpu.h", "softmax_fpu.h"]


@dataclass(frozen=True)
class LinesContext:
    """The numbers of the lines; `gathered` where elements of a line are copied beside each other, `logarithm` where
    that of the share is wanted; `few` where all lines are raised at once.
    """

    numbers: SoftmaxF32Context
    elements: int
    gathered: bool
    logarithm: bool
    few: bool


def is_few(call: Call) -> bool:
    """True where lines are short and their powers are what is asked for."""
    return call.node.op == "Softmax" and call.shape(0)[softmax_axis(call)] <= FEW


@PLATFORM.kernel(
    "Softmax", "LogSoftmax", types="f32 -> f32", template="softmax_fpu.c.mako", layout=("axes", "same"),
    sources=SOURCES, numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class SoftmaxFpu(KernelMethods):
    """The largest of a line, powers and their sum; lines whose elements lie apart go by a copy."""

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, and no activation behind."""
        return lines_refused(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each element is read for the last time just before its result is written."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """A line, where one is copied, and one where its powers are not the result."""
        numbers = self.context(operands)
        if numbers.few:
            return 0
        return 4 * numbers.numbers.length * (numbers.gathered + numbers.logarithm)

    def cost(self, call: Call) -> float:
        """Some twenty-five instructions an element, and those of a line."""
        elements, length = call.outputs[0].elements, call.shape(0)[softmax_axis(call)]
        per_element, per_line = (31.0, 20.0) if is_few(call) else (25.0, 210.0)
        return per_element * elements + per_line * elements / length

    def context(self, operands: Operands) -> LinesContext:
        """The numbers of the lines."""
        numbers = PORTABLE.context(operands)
        apart = (numbers.x_step, numbers.y_step) != (1, 1)
        call = operands.call
        few, elements = is_few(call), call.outputs[0].elements
        return LinesContext(numbers, elements, apart and not few, call.node.op == "LogSoftmax", few)
