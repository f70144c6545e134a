"""Mul of floats where there is no float unit: the same bits as the library gives, without a call for each product."""

from __future__ import annotations

from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.codes import context_of
from tilewright.platforms.generic.kernels.nest import ElementwiseLoops, NestContext, nests_of
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.kernels.whole_products import limited
from tilewright.platforms.riscv.platform import PLATFORM

GENERIC = "../../generic/kernels"
LOOPS = ElementwiseLoops()
PRODUCT = "tilewright_whole_multiplied(e0, e1)"


@PLATFORM.kernel(
    "Mul", types="f32, f32 -> f32", template=f"{GENERIC}/nest.c.mako", layout=("axes", "same"), numerics="1e-5",
    sources=[*(f"{GENERIC}/{name}.h" for name in ("fixed_room", "whole_f32", "whole_products")), "whole_mul.h"],
    preference=5, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeMul(KernelMethods):
    """Loops printed from the index maps, over products of whole numbers; what is no normal number is left to floats."""

    def accepts(self, call: Call) -> str | None:
        """What the loops take."""
        return LOOPS.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """A constant factor."""
        return LOOPS.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may take the place of a factor of its shape."""
        return LOOPS.in_place(call)

    def cost(self, call: Call) -> float:
        """Of every product."""
        return 50.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> NestContext:
        """The loops with whole products in them."""
        nests, (low, high) = nests_of(operands.call), DType.I32.range
        body = limited(PRODUCT, operands.call.node.clamp)
        codes = Codes(body, "acc", "float", low, high, operand_type="float", total_type="float")
        return context_of(operands, nests, [codes] * len(nests), ())
