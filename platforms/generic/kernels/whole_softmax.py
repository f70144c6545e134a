"""Softmax of floats and its logarithm where there is no float unit: differences, powers and shares as whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.numerics import softmax_axis
from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.softmax_f32 import lines_refused
from tilewright.platforms.generic.kernels.softmax_i8 import lines_of, strides
from tilewright.platforms.generic.kernels.whole_sums import row_start
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class WholeSoftmaxContext:
    """Rows of `length` elements, `step` apart; the loop runs from `first` to `end`, and `start` is the first element of
    `row`, C all three; `log` takes logarithms of shares."""

    first: str
    end: str
    length: int
    start: str
    step: int = 1
    log: bool = False


SOURCES = ["fixed.h", "fixed_reciprocal.h", "fixed_power.h", "whole_f32.h", "whole_softmax.h"]
LOG_SOURCES = [*SOURCES, "whole_real.h"]


@PLATFORM.kernel(
    "Softmax", types="f32 -> f32", template="whole_softmax.c.mako", layout=("axes", "same"), numerics="1e-6",
    preference=6, sources=SOURCES, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeSoftmax(KernelMethods):
    """Rows along any axis as whole numbers of one exponent, a polynomial for each power of 2, one reciprocal a row."""

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, and no activation behind."""
        return lines_refused(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row's elements are read one by one when they become whole numbers in their place."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Four passes over a row."""
        return 95.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> WholeSoftmaxContext:
        """Where rows lie."""
        call = operands.call
        axis, shape = softmax_axis(call), call.shape(0)
        x = strides(operands, call.tensor(0).name, shape)
        lines, rows = lines_of(shape, axis, x, x), call.tensor(0).elements // shape[axis]
        start = row_start([(one.count, one.x) for one in lines])
        return WholeSoftmaxContext("0", str(rows), shape[axis], start, x[axis])


@PLATFORM.kernel(
    "LogSoftmax", types="f32 -> f32", template="whole_softmax.c.mako", layout=("axes", "same"), numerics="1e-5",
    preference=6, sources=LOG_SOURCES, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeLogSoftmax(KernelMethods):
    """Differences and powers of 2 as whole numbers, one logarithm a row."""

    def accepts(self, call: Call) -> str | None:
        """What Softmax takes."""
        return SOFTMAX.accepts(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row's elements are read one by one when they become whole numbers in their place."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Four passes over a row, of which the last subtracts a float, and the logarithm."""
        length = call.shape(0)[softmax_axis(call)]
        return call.tensor(0).elements * (200.0 + 2500.0 / length)

    def context(self, operands: Operands) -> WholeSoftmaxContext:
        """Extents."""
        return replace(SOFTMAX.context(operands), log=True)


SOFTMAX = WholeSoftmax()
