"""Sigmoid of floats on cores without floating-point unit: whole numbers, where a library would emulate doubles."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class SigmoidContext:
    """C of the first element and of the end."""

    first: str
    end: str


@PLATFORM.kernel(
    "Sigmoid", types="f32 -> f32", template="sigmoid_whole.c.mako", layout=("axes", "same"),
    sources=["sigmoid_whole.h"], numerics="1e-6", preference=5, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class SigmoidWhole(KernelMethods):
    """A polynomial for a power of 2, and a reciprocal; within 1.5e-7 of the true value, relative to it."""

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, and no activation behind."""
        if call.node.clamp is not None:
            return "an activation is fused behind it, the kernel has none"
        return None if call.outputs[0].elements else "the tensor has no elements"

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may lie where the operand lay."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Some ninety instructions per element."""
        return 90.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> SigmoidContext:
        """All of them."""
        return SigmoidContext("0", str(operands.call.outputs[0].elements))
