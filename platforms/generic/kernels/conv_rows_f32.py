"""Float convolution with weights of the run time, row by row over copies of what it reads: see conv_gathered_f32."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tilewright.operators import conv_window
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.conv_gathered_f32 import (
    TYPES,
    ConvGatheredF32,
    GatheredContext,
    Steps,
    pixel_by_pixel,
)
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.platform import PLATFORM

COPYING = 1.05
"""What copies add to the work, where nothing pays for them."""
GATHERED = ConvGatheredF32()


@dataclass(frozen=True)
class RowsContext:
    """A convolution of one row of results over copies of the rows that it reads, `window` behind what is gathered.

    `rows` of results, those of the operand, how many a result slides by and how many lie before the first of them, and
    the operand's steps.
    """

    row: GatheredContext
    images: int
    rows: int
    size: int
    stride: int
    begin: int
    x: Steps
    window: int


class ConvRowsF32(KernelMethods):
    """Four pixels by four channels at a time from copies of rows, so that results may lie over the operand."""

    def accepts(self, call: Call) -> str | None:
        """One group, rows one behind the other."""
        if (refused := GATHERED.accepts(call)) is not None:
            return refused
        if call.integer("group", 1) > 1 or conv_window(call).dilations[:-1] not in ((), (1,)):
            return "the kernel handles one group and windows of neighbouring rows"
        return "pixels are gathered whole" if pixel_by_pixel(call) else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand or a bias that is constant."""
        return constants_by_name(operands, 0, 2)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row of results lies over one of which there is a copy."""
        x, y = call.shape(0), call.outputs[0].shape
        slides = prod(conv_window(call).strides) == 1 and x[2:] == y[2:]
        return ((0, 0),) if slides and x[0] == 1 and y[1] <= x[1] else ()

    def cost(self, call: Call) -> float:
        """Copies cost little, and nothing pays for them where results lie elsewhere in any case."""
        return GATHERED.cost(call) * (1.0 if self.in_place(call) else COPYING)

    def scratch(self, operands: Operands) -> int:
        """What is gathered, and the rows."""
        numbers = self.context(operands)
        return 4 * (numbers.window + numbers.row.channels * prod(numbers.row.pairs[0]))

    def context(self, operands: Operands) -> RowsContext:
        """The numbers of a row."""
        whole = GATHERED.context(operands)
        size, outs, kernel, strides, dilations, begins = whole.pairs
        lying = (0, kernel[0] * size[1], size[1], 1)
        pairs = ((kernel[0], size[1]), (1, outs[1]), kernel, strides, dilations, (0, begins[1]))
        row = replace(whole, images=1, pairs=pairs, x=lying, direct=False, beside=whole.y[3] == 1)
        window = 4 * min(whole.at_once, whole.channels) * prod(kernel)
        return RowsContext(row, whole.images, outs[0], size[0], strides[0], begins[0], whole.x, window)


PLATFORM.kernel(
    "Conv", types=TYPES, template="conv_rows_f32.c.mako", layout=("default", "default"), numerics="1e-5",
    sources=["registers_f32.h", "blocks_f32.h", "products_f32.h", "gathered_f32.h", "runs_f32.h", "rows_f32.h"],
    preference=12, requires=Needs(has=("fpu",)),
)(ConvRowsF32)  # fmt: skip
