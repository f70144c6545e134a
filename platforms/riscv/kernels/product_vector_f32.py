"""Float MatMul of two operands on cores with vectors: three rows times thirty-two columns, read where they lie."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.product_f32 import refused
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands
from tilewright.platforms.riscv.kernels.integer_vector import LANES, SUMS, rows_at_once
from tilewright.platforms.riscv.platform import PLATFORM

FEWEST = 4
"""Columns; of fewer most lanes would stay empty."""


@dataclass(frozen=True)
class ProductVectorContext:
    """The product, `at_once` rows in blocks of `lanes` columns, and the registers of their sums."""

    product: TwoOperands
    at_once: int
    lanes: int
    sums: tuple[str, ...]


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="product_vector_f32.c.mako", layout=("axes", "like"), numerics="1e-5",
    preference=20, requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class ProductVectorF32(KernelMethods):
    """Float matrix product of two operands in vectors of columns."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with columns for some lanes."""
        if (why := refused(call)) is not None:
            return why
        if call.node.clamp is not None:
            return "an activation is fused behind it, the kernel has none"
        product = two_operands(Operands(call))
        if not product.depth or not call.outputs[0].elements:
            return "there is nothing to compute"
        return f"{product.columns} columns leave lanes empty" if product.columns < FEWEST else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Steps of all blocks, and what a block takes beside."""
        product = two_operands(Operands(call))
        at_once = rows_at_once(product)
        blocks = -(-product.rows // at_once) * -(-product.columns // LANES)
        return float(product.matrices * blocks * ((4 + 3 * at_once) * product.depth + 40))

    def context(self, operands: Operands) -> ProductVectorContext:
        """The numbers of the product."""
        product = two_operands(operands)
        at_once = rows_at_once(product)
        return ProductVectorContext(product, at_once, LANES, SUMS[:at_once])
