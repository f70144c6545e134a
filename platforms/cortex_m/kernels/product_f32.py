"""Float MatMul of two operands of the run time on cores with a floating-point unit: sixteen sums in registers.

One row, or one column, has no use for sixteen: four sums of its products with lines of the other operand are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import product_f32 as portable
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands

Way = Literal["by_rows", "by_columns", "outer", "any"]


@dataclass(frozen=True)
class ProductContext:
    """The product, `height` by `width` results of a block of four by four, how its operands are read, and whether
    results are stored by runs as they are. `single`: the side that has one line only."""

    product: TwoOperands
    height: int
    width: int
    way: Way
    single: Literal["a", "b", ""]
    runs: bool
    clamp: str


def way_of(product: TwoOperands) -> Way:
    """By rows or columns of the right-hand side that are read several elements at a time; `outer` where four rows of
    the left-hand side, which lie in columns, and four columns of the other one are."""
    if product.a_row == product.b_column == 1 and min(product.rows, product.columns) >= 4:
        return "outer"
    if product.a_step != 1:
        return "any"
    if product.b_column == 1 and product.columns >= 4:
        return "by_rows"
    return "by_columns" if product.b_step == 1 else "any"


def single_of(product: TwoOperands) -> Literal["a", "b", ""]:
    """The side that has one line only, against whose other side four lines are taken."""
    return "a" if product.rows == 1 else "b" if product.columns == 1 else ""


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="product_fpu.c.mako", layout=("axes", "like"),
    sources=[REGISTERS, "fpu.h", "product_fpu.h"], numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class ProductFpu(KernelMethods):
    """Float matrix product of two operands: four rows by four columns in registers."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, where there are products."""
        return portable.refused(call) or (None if call.shape(0)[-1] else "its sums have no products")

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Forty-two instructions for thirty-two multiply-accumulates, and the results of a block."""
        product = two_operands(Operands(call))
        blocks = -(-product.rows // 4) * -(-product.columns // 4)
        if single_of(product):
            return float(product.matrices * blocks * (12 * product.depth + 60))
        each = 130 if way_of(product) == "any" else 21
        return float(product.matrices * blocks * (each * product.depth + 250))

    def context(self, operands: Operands) -> ProductContext:
        """The numbers of the product."""
        product = two_operands(operands)
        height, width = min(4, product.rows), min(4, product.columns)
        clamp = operands.call.node.clamp
        runs = clamp is None and product.y_column == 1
        return ProductContext(
            product, height, width, way_of(product), single_of(product), runs, rectified_text("v", clamp)
        )
