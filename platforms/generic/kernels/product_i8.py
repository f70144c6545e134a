"""Integer MatMul of two operands of the run time: blocks of rows and columns, centred where they are read."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, proof, requantise, the_quantisation, too_wide
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels import product_f32
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "qi8|qu8, qi8|qu8 -> qi8|qu8"


@dataclass(frozen=True)
class ProductI8Context:
    """The product; `at_once` rows by `width` columns are summed together, the last ones again with those before."""

    attribute: str
    a_type: str
    b_type: str
    y_type: str
    a_zero: int
    b_zero: int
    product: TwoOperands
    at_once: int
    width: int
    requantise: Requantiser


def refused(call: Call) -> str | None:
    """None for a product of two operands with one zero point each, without a bias, else why not."""
    if (why := product_f32.refused(call)) is not None:
        return why
    if call.optional(2) is not None:
        return "it has a bias"
    if (
        len(set(the_quantisation(call.tensor(1)).scale)) > 1
        or len(set(the_quantisation(call.tensor(1)).zero_point)) > 1
    ):
        return "the right-hand side has a scale for each column"
    return too_wide(proof(call))


def product_context(operands: Operands, attribute: str, widths: tuple[int, ...]) -> ProductI8Context:
    """The numbers of the product in blocks of four rows by the first width that its columns fill."""
    call = operands.call
    a, b, y = call.tensor(0), call.tensor(1), call.outputs[0]
    product = two_operands(operands)
    return ProductI8Context(
        attribute=attribute,
        a_type=C_TYPES[a.dtype],
        b_type=C_TYPES[b.dtype],
        y_type=C_TYPES[y.dtype],
        a_zero=the_quantisation(a).zero_point[0],
        b_zero=the_quantisation(b).zero_point[0],
        product=product,
        at_once=min(4, product.rows),
        width=next((width for width in widths if product.columns >= width), product.columns),
        requantise=requantise(proof(call)),
    )


@PLATFORM.kernel(
    "MatMul", types=TYPES, template="product_i8.c.mako", layout=("axes", "like"),
    sources=["vectorised.h", *ROUNDING], preference=5,
)  # fmt: skip
class ProductI8(KernelMethods):
    """Integer matrix product of two operands."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def context(self, operands: Operands) -> ProductI8Context:
        """The numbers of the product."""
        return product_context(operands, ATTRIBUTE, (16, 8, 4))
