"""Float MatMul of two operands of the run time: blocks of rows and columns, read where they lie."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE, clamp_text
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class ProductContext:
    """The product; `at_once` rows by `width` columns are summed together, the last ones again with those before."""

    attribute: str
    product: TwoOperands
    at_once: int
    width: int
    clamp: str


def refused(call: Call) -> str | None:
    """None where an operand is computed at run time that no kernel repacks, else why not."""
    if 1 in call.constants and call.constants[1].ndim == 2:
        return "the right-hand side is a constant matrix, other kernels repack it at compile time"
    return None


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="product_f32.c.mako", layout=("axes", "like"),
    sources=["vectorised.h"], numerics="1e-5", preference=5, requires=Needs(has=("fpu",)),
)  # fmt: skip
class ProductF32(KernelMethods):
    """Float matrix product of two operands."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def context(self, operands: Operands) -> ProductContext:
        """The numbers of the product."""
        product = two_operands(operands)
        width = next((width for width in (16, 8, 4) if product.columns >= width), product.columns)
        clamp = clamp_text("v", operands.call.node.clamp)
        return ProductContext(ATTRIBUTE, product, min(4, product.rows), width, clamp)
