"""MatMulInteger on cores with the DSP or the vector extension: the products of codes, whose sums are kept as they are.

Zero points are read when the kernel runs; see `product_i8.py` and `mve_product.py` for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, SHIFTS
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.kernels import matrix_i8, mve_product, product_i8
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import integer_product as portable
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, two_operands

OFFSET = 128


@dataclass(frozen=True)
class SumsContext:
    """The product with `chunk` columns at a time; `at` are places in scratch behind what is packed. Zero points are C
    of signed codes."""

    product: TwoOperands
    chunk: int
    at: tuple[int, ...]
    at_once: int
    shape: tuple[int, ...]
    zeros: tuple[str, str]
    a_type: str
    b_type: str


def zeros_of(call: Call) -> tuple[str, str]:
    """C of both zero points, of codes that are signed."""
    unsigned = (call.tensor(operand).dtype is DType.U8 for operand in (0, 1))
    left, right = (
        f"{portable.zero_of(call, operand)} - {OFFSET}" if offset else portable.zero_of(call, operand)
        for operand, offset in enumerate(unsigned)
    )
    return left, right


def shape_of(operands: Operands, columns: int) -> tuple[int, ...]:
    """As `product_i8.shape_of`, with zeros for what is read at run time; steps of the result count bytes."""
    product, call = two_operands(operands), operands.call
    flips = [0x80808080 if call.tensor(operand).dtype is DType.U8 else 0 for operand in (0, 1)]
    single = columns > product.columns
    return (
        product.rows, product.depth, columns, product.a_row, product.a_step, flips[0], 0,
        0 if single else product.b_column, product.b_step, flips[1], 0,
        4 * product.y_row, 0 if single else 4 * product.y_column,
    )  # fmt: skip


@PLATFORM.kernel(
    "MatMulInteger", types=portable.TYPES, template="integer_dsp.c.mako", layout=("axes", "like"),
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "product_exact.h", "product_dsp.h"], preference=20,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class IntegerProductDsp(KernelMethods):
    """Sums of products of bytes in dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return portable.refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return portable.given_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Packed columns and widened rows."""
        product = two_operands(operands)
        depth = product.depth + -product.depth % 4
        return product_i8.packed_bytes(product) + 2 * depth * matrix_i8.pixels_at_once(product.rows)

    def cost(self, call: Call) -> float:
        """That of the product of codes."""
        return product_i8.product_cost(call)

    def context(self, operands: Operands) -> SumsContext:
        """The numbers of the product."""
        call, product = operands.call, two_operands(operands)
        columns = product_i8.packed_columns(product)
        return SumsContext(
            product=product,
            chunk=min(columns, product.columns),
            at=(product_i8.packed_bytes(product) // 4,),
            at_once=matrix_i8.pixels_at_once(product.rows),
            shape=shape_of(operands, columns),
            zeros=zeros_of(call),
            a_type=C_TYPES[call.tensor(0).dtype],
            b_type=C_TYPES[call.tensor(1).dtype],
        )


@PLATFORM.kernel(
    "MatMulInteger", types=portable.TYPES, template="integer_mve.c.mako", layout=("axes", "like"),
    sources=["mve.h", "product_exact.h", "product_mve.h"], preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class IntegerProductMve(KernelMethods):
    """Sums of products of bytes in vectors."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return portable.refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return portable.given_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Packed columns, their starts and a row."""
        product = two_operands(operands)
        _, packed, starts = mve_product.parts_of(product)
        return packed + starts + mve_product.copied_bytes(product.depth)

    def cost(self, call: Call) -> float:
        """That of the product of codes."""
        return mve_product.product_cost(call)

    def context(self, operands: Operands) -> SumsContext:
        """The numbers of the product."""
        call, product = operands.call, two_operands(operands)
        chunk, packed, starts = mve_product.parts_of(product)
        return SumsContext(
            product=product,
            chunk=chunk,
            at=(packed, packed + starts),
            at_once=1,
            shape=tuple(number & 0xFF if number >= 1 << 31 else number for number in shape_of(operands, chunk)),
            zeros=zeros_of(call),
            a_type=C_TYPES[call.tensor(0).dtype],
            b_type=C_TYPES[call.tensor(1).dtype],
        )
