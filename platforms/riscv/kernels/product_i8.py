"""Integer MatMul of two operands of the run time: sixteen sums in registers, eight loads for sixteen products."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import ROUNDING
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels import product_i8
from tilewright.platforms.generic.kernels.two_operands import operand_constants
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, Scalars, scalars
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class ProductContext:
    """The product, and its requantisation in variables."""

    block: product_i8.ProductI8Context
    requantise: Scalars


@PLATFORM.kernel(
    "MatMul", types=product_i8.TYPES, template="product_i8.c.mako", layout=("axes", "like"),
    sources=["scalar.h", *ROUNDING], preference=30,
)  # fmt: skip
class ProductBlockI8(KernelMethods):
    """Integer matrix product of two operands in register blocks."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return product_i8.refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def context(self, operands: Operands) -> ProductContext:
        """The numbers of the product."""
        return ProductContext(product_i8.product_context(operands, ATTRIBUTE, (4,)), scalars(operands.call))
