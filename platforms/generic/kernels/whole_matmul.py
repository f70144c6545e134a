"""Products of two float operands of the run time where there is no float unit: lines of both become whole
numbers, a part at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.product_f32 import refused
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands
from tilewright.platforms.generic.kernels.whole_products import limited, margin_of, too_long
from tilewright.platforms.generic.kernels.whole_weights import LINES
from tilewright.platforms.generic.platform import PLATFORM

ROWS, COLUMNS = 8, 4
PART, WHOLE = 16, 32
"""Numbers of a line at once, and of one that becomes whole numbers once for all columns."""


@dataclass(frozen=True)
class WholeMatMulContext:
    """The product, and how many rows, columns and elements of both are whole numbers at one time."""

    product: TwoOperands
    rows: int
    columns: int
    part: int
    margin: int
    clamp: str


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="whole_product.c.mako", layout=("axes", "like"),
    sources=[*LINES, "whole_bare.h", "whole_pairs.h"], numerics="1e-5", preference=25, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeMatMul(KernelMethods):
    """Eight rows by four columns, read where they lie."""

    def accepts(self, call: Call) -> str | None:
        """What the float kernel takes."""
        return refused(call) or empty(call) or too_long(call.shape(0)[-1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Six instructions a product, and what becomes whole numbers for every block."""
        numbers = self.context(Operands(call))
        product = numbers.product
        a_share = product.columns if numbers.part == product.depth else numbers.columns
        each = 6 + 22 / numbers.rows + 16 / a_share + 100 / product.depth
        return each * product.matrices * product.rows * product.columns * product.depth

    def context(self, operands: Operands) -> WholeMatMulContext:
        """The numbers of the product."""
        product = two_operands(operands)
        part = product.depth if product.depth <= WHOLE else PART
        rows, columns = min(ROWS, ROWS * PART // part, product.rows), min(COLUMNS, product.columns)
        clamp = limited("v", operands.call.node.clamp)
        return WholeMatMulContext(product, rows, columns, part, margin_of(product.depth), clamp)
