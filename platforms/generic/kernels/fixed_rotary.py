"""Rotary embedding in fixed point: four upper halves of products for a pair."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import turn_exponents
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.attention import RotaryAtPositions, RotaryContext
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.fixed_elements import moved
from tilewright.platforms.generic.platform import PLATFORM

PORTABLE = RotaryAtPositions()


@dataclass(frozen=True)
class FixedRotaryContext:
    """Sizes and strides; by how many bits sums of products are moved, and elements that do not turn."""

    sizes: RotaryContext
    exponent: int
    kept: int

    def result(self, first: str, second: str, sign: str) -> str:
        """C of a sum or difference of products, each of an element and an angle."""
        high = "tilewright_fixed_high((int32_t)((uint32_t){0[0]} << 1), {0[1]})"
        total = f"({high.format(first)} {sign} {high.format(second)})"
        return moved(total, self.exponent)

    @property
    def other(self) -> str:
        """C of an element that does not turn."""
        return moved("x[first + i]", self.kept)


@PLATFORM.kernel(
    "RotaryEmbedding", types="qi32, qi32, qi32, i64|i32? -> qi32", template="fixed_rotary.c.mako",
    sources=["index.h", "fixed.h"],
)  # fmt: skip
class FixedRotary(KernelMethods):
    """Pairs turned by angles of their step, or by those that run-time positions look up."""

    def accepts(self, call: Call) -> str | None:
        """Anything that has elements."""
        return "the result is limited" if call.node.clamp else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the kernel of floats."""
        return PORTABLE.constants(operands)

    def cost(self, call: Call) -> float:
        """Two products and a sum an element."""
        return 12.0 * call.outputs[0].elements

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Both elements of a pair are read before they are written."""
        return ((0, 0),)

    def context(self, operands: Operands) -> FixedRotaryContext:
        """Sizes and moves."""
        return FixedRotaryContext(PORTABLE.context(operands), *turn_exponents(operands.call))
