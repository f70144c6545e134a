"""MatMulInteger and ConvInteger on cores with vectors: three rows times thirty-two columns, whose sums stay in
registers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import integer_conv
from tilewright.platforms.generic.kernels.integer_product import (
    TYPES,
    IntegerWindows,
    given_constants,
    refused,
    zero_of,
)
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
    windows: IntegerWindows | None = None


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
        return _numbers(operands.call, two_operands(operands))


@PLATFORM.kernel(
    "ConvInteger", types=TYPES, template="integer_vector.c.mako", layout="default", preference=20,
    sources=["../../generic/kernels/integer_conv.h"], requires=Needs(has=("rvv",)),
)  # fmt: skip
class IntegerConvVector(KernelMethods):
    """Windows of three pixels, gathered, times thirty-two channels."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return integer_conv.refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant, the channels of a weight side by side."""
        call = operands.call
        return tuple(
            replace(one, values=np.ascontiguousarray(call.constants[1].reshape(call.shape(1)[0], -1).T).reshape(-1))
            if one.name == "w" else one
            for one in given_constants(call)
        )  # fmt: skip

    def scratch(self, operands: Operands) -> int:
        """The gathered windows."""
        return integer_conv.gathered_bytes(operands.call, ROWS)

    def cost(self, call: Call) -> float:
        """Steps of all blocks, and what a block and a window take beside."""
        product, windows = integer_conv.windows_of(call, ROWS)
        blocks = -(-product.columns // LANES)
        each = blocks * ((5 + 3 * product.rows) * product.depth + 40) + 6 * product.rows * product.depth
        return float(windows.images * -(-windows.image // product.rows) * each)

    def context(self, operands: Operands) -> IntegerVectorContext:
        """The numbers of the product."""
        call = operands.call
        product, windows = integer_conv.windows_of(call, ROWS, columns_first=1 in call.constants)
        return _numbers(call, product, windows)


def _numbers(call: Call, product: TwoOperands, windows: IntegerWindows | None = None) -> IntegerVectorContext:
    unsigned = [call.tensor(operand).dtype is DType.U8 for operand in (0, 1)]
    at_once = rows_at_once(product)
    return IntegerVectorContext(
        product, at_once, LANES, SUMS[:at_once], C_TYPES[call.tensor(0).dtype], C_TYPES[call.tensor(1).dtype],
        "lbu" if unsigned[0] else "lb", "vzext.vf2" if unsigned[1] else "vsext.vf2", zero_of(call, 0),
        zero_of(call, 1), windows,
    )  # fmt: skip


def rows_at_once(product: TwoOperands) -> int:
    """Rows of a block."""
    return min(ROWS, product.rows)
