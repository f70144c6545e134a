"""Softmax of floats and its logarithm where there is no float unit: differences, powers and shares as whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.numerics import softmax_axis
from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class WholeSoftmaxContext:
    """Rows of `length` elements; the loop runs from `first` to `end`, C both; `log` takes logarithms of shares."""

    first: str
    end: str
    length: int
    log: bool = False


SOURCES = ["fixed.h", "fixed_reciprocal.h", "fixed_power.h", "whole_f32.h", "whole_softmax.h"]
LOG_SOURCES = [*SOURCES, "whole_real.h"]


@PLATFORM.kernel(
    "Softmax", types="f32 -> f32", template="whole_softmax.c.mako", numerics="1e-6", preference=6, sources=SOURCES,
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeSoftmax(KernelMethods):
    """Rows as whole numbers of one exponent, a polynomial for each power of 2, one reciprocal a row."""

    def accepts(self, call: Call) -> str | None:
        """The last axis, or one before axes of one element."""
        shape = call.shape(0)
        if any(size != 1 for size in shape[softmax_axis(call) + 1 :]):
            return "more than the last axis stands behind what is summed"
        return "the result is limited" if call.node.clamp is not None else empty(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row's elements are read one by one when they become whole numbers in their place."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Four passes over a row."""
        return 95.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> WholeSoftmaxContext:
        """Extents."""
        length = operands.call.shape(0)[softmax_axis(operands.call)]
        return WholeSoftmaxContext("0", str(operands.call.tensor(0).elements // length), length)


@PLATFORM.kernel(
    "LogSoftmax", types="f32 -> f32", template="whole_softmax.c.mako", numerics="1e-5", preference=6,
    sources=LOG_SOURCES, requires=Needs(lacks=("fpu",)),
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
