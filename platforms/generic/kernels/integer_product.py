"""MatMulInteger: sums of products of bytes less their zero points, which may be known at run time only."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.nest import operand_names
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, two_operands
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "i8|u8, i8|u8, i8|u8?, i8|u8? -> i32"
DEEPEST = 1 << 15
"""Products of 255 by 255 that int32 holds."""


@dataclass(frozen=True)
class IntegerWindows:
    """Windows of images that are gathered as rows of a product: C of both axes, elements of a channel of an image,
    pixels of a row and of a channel of the result."""

    images: int
    inputs: int
    rows: str
    columns: str
    plane: int
    across: int
    image: int


@dataclass(frozen=True)
class IntegerProductContext:
    """The product in blocks of `at_once` rows by `width` columns; the zero points are C expressions."""

    attribute: str
    a_type: str
    b_type: str
    product: TwoOperands
    at_once: int
    width: int
    a_zero: str
    b_zero: str
    windows: IntegerWindows | None = None


def refused(call: Call) -> str | None:
    """None for one zero point for each operand and sums that int32 holds, or why not."""
    zeros = [call.optional(2), call.optional(3)]
    if any(zero is not None and zero.elements != 1 for zero in zeros):
        return "it has a zero point per row or column, the kernel takes one for each operand"
    if call.shape(0)[-1] >= DEEPEST:
        return f"{call.shape(0)[-1]} products of bytes may leave int32"
    return None if call.outputs[0].elements and call.shape(0)[-1] else "the tensor has no elements"


def given_constants(call: Call) -> tuple[Constant, ...]:
    """Operands that are constant, as they are."""
    names = operand_names(call)
    return tuple(Constant(names[i], call.tensor(i).dtype, v.reshape(-1)) for i, v in sorted(call.constants.items()))


def zero_of(call: Call, operand: int) -> str:
    """C of an operand's zero point."""
    return "0" if call.optional(operand + 2) is None else f"{operand_names(call)[operand + 2]}[0]"


@PLATFORM.kernel(
    "MatMulInteger", types=TYPES, template="integer_product.c.mako", layout=("axes", "like"),
    sources=["vectorised.h"], preference=5,
)  # fmt: skip
class IntegerProduct(KernelMethods):
    """Blocks of rows and columns, less their zero points where they are read."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return given_constants(operands.call)

    def context(self, operands: Operands) -> IntegerProductContext:
        """The numbers of the product."""
        return numbers_of(operands.call, two_operands(operands))


def numbers_of(call: Call, product: TwoOperands, windows: IntegerWindows | None = None) -> IntegerProductContext:
    """Of the product of a call, whose rows are gathered where there are windows."""
    return IntegerProductContext(
        attribute=ATTRIBUTE,
        a_type=C_TYPES[call.tensor(0).dtype],
        b_type=C_TYPES[call.tensor(1).dtype],
        product=product,
        at_once=min(4, product.rows),
        width=next((width for width in (16, 8, 4) if product.columns >= width), product.columns),
        a_zero=zero_of(call, 0),
        b_zero=zero_of(call, 1),
        windows=windows,
    )
