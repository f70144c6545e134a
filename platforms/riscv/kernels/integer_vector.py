"""MatMulInteger on cores with vectors: three rows times thirty-two columns, whose sums stay in registers."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.integer_product import TYPES, given_constants, refused, zero_of
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, two_operands
from tilewright.platforms.riscv.platform import PLATFORM

ROWS, LANES = 3, 32
SUMS = ("v8", "v16", "v24")
"""Registers of a row's sums."""


@dataclass(frozen=True)
class IntegerVectorContext:
    """The product, `at_once` rows in blocks of `lanes` columns; instructions that read codes, C of the zero points."""

    product: TwoOperands
    at_once: int
    lanes: int
    sums: tuple[str, ...]
    a_type: str
    b_type: str
    load: str
    widen: str
    a_zero: str
    b_zero: str


@PLATFORM.kernel(
    "MatMulInteger", types=TYPES, template="integer_vector.c.mako", layout=("axes", "like"), preference=20,
    requires=Needs(has=("rvv",)),
)  # fmt: skip
class IntegerProductVector(KernelMethods):
    """Sums of products of bytes less their zero points in vectors."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return given_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Steps of all blocks, and what a block takes beside."""
        product = two_operands(Operands(call))
        at_once = rows_at_once(product)
        blocks = -(-product.rows // at_once) * -(-product.columns // LANES)
        return float(product.matrices * blocks * ((5 + 3 * at_once) * product.depth + 40))

    def context(self, operands: Operands) -> IntegerVectorContext:
        """The numbers of the product."""
        call, product = operands.call, two_operands(operands)
        unsigned = [call.tensor(operand).dtype is DType.U8 for operand in (0, 1)]
        at_once = rows_at_once(product)
        return IntegerVectorContext(
            product, at_once, LANES, SUMS[:at_once], C_TYPES[call.tensor(0).dtype], C_TYPES[call.tensor(1).dtype],
            "lbu" if unsigned[0] else "lb", "vzext.vf2" if unsigned[1] else "vsext.vf2", zero_of(call, 0),
            zero_of(call, 1),
        )  # fmt: skip


def rows_at_once(product: TwoOperands) -> int:
    """Rows of a block."""
    return min(ROWS, product.rows)
