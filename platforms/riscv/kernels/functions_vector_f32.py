"""Sigmoid, Tanh, Exp, Gelu and their kin of floats in vectors."""

from __future__ import annotations

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.nest import same_size
from tilewright.platforms.riscv.kernels.reals_vector import constants_of, context_of, refused
from tilewright.platforms.riscv.kernels.strips import StripContext
from tilewright.platforms.riscv.platform import PLATFORM


@PLATFORM.kernel(
    "Sigmoid", "Swish", "Tanh", "Exp", "Erf", "Gelu", "Elu", "Selu", "Softplus", "Mish",
    types="f32 -> f32", template="strip.c.mako", layout=("axes", "same"), preference=20, numerics="1e-6",
    requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class FunctionsVectorF32(KernelMethods):
    """One exponential by a polynomial of degree six, thirty-two elements at a time."""

    def accepts(self, call: Call) -> str | None:
        """Bodies with instructions; a Swish whose operand keeps its sign."""
        if call.node.op == "Swish" and not call.real("alpha", 1.0) > 0:
            return "the operand is multiplied by what is not above zero, the kernel knows its sign by the operand's"
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as they are."""
        return constants_of(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def cost(self, call: Call) -> float:
        """As many vector instructions as the function has, for thirty-two elements, and the loop."""
        return 1.5 * call.outputs[0].elements + 60.0

    def context(self, operands: Operands) -> StripContext:
        """The instructions of the body."""
        return context_of(operands)
