"""Integer products of two operands on cores with vectors: three rows times thirty-two columns, sums in registers.

MatMulInteger and ConvInteger store the sums; MatMul of codes makes codes of them before they leave the registers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import C_TYPES, MultiplyHigh, Requantiser, proof, requantise, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import integer_conv, product_i8
from tilewright.platforms.generic.kernels.integer_product import (
    TYPES,
    IntegerWindows,
    given_constants,
    refused,
    zero_of,
)
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands
from tilewright.platforms.riscv.kernels.rvv_asm import code_operands, codes, stores
from tilewright.platforms.riscv.platform import PLATFORM

ROWS, LANES = 3, 32
SUMS = ("v8", "v16", "v24")
"""Registers of a row's sums."""


@dataclass(frozen=True)
class IntegerVectorContext:
    """The product, `at_once` rows in blocks of `lanes` columns; instructions that read codes, C of the zero points.

    `stored` are the instructions that make codes of the sums, where the result has codes, and store them.
    """

    product: TwoOperands
    at_once: int
    lanes: int
    sums: tuple[str, ...]
    a_type: str
    b_type: str
    y_type: str
    y_bytes: int
    load: str
    widen: str
    a_zero: str
    b_zero: str
    stored: tuple[str, ...]
    store_operands: tuple[tuple[str, str], ...]
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
        return work(two_operands(Operands(call)), 40)

    def context(self, operands: Operands) -> IntegerVectorContext:
        """The numbers of the product."""
        return _of_sums(operands.call, two_operands(operands))


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
        return _of_sums(call, product, windows)


@PLATFORM.kernel(
    "MatMul", types=product_i8.TYPES, template="integer_vector.c.mako", layout=("axes", "like"), preference=34,
    requires=Needs(has=("rvv",)),
)  # fmt: skip
class ProductVectorI8(KernelMethods):
    """Integer matrix product of two operands of the run time in vectors of columns."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, where codes are made of sums of 32 bits."""
        if (why := product_i8.refused(call)) is not None:
            return why
        if not isinstance(form_of(call), MultiplyHigh):
            return "its codes have no form of 32 bits, the kernel makes them in vectors"
        product = two_operands(Operands(call))
        if not product.depth or not call.outputs[0].elements:
            return "there is nothing to compute"
        return "one column leaves lanes empty" if product.columns == 1 else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Steps of all blocks, and what a block and the codes of its rows take beside."""
        product = two_operands(Operands(call))
        return work(product, 40 + 8 * rows_at_once(product))

    def context(self, operands: Operands) -> IntegerVectorContext:
        """The numbers of the product and of its codes."""
        call = operands.call
        product, y_type, form = two_operands(operands), call.outputs[0].dtype, form_of(call)
        assert isinstance(form, MultiplyHigh)
        a_zero, b_zero = (the_quantisation(call.tensor(operand)).zero_point[0] for operand in (0, 1))
        sums = list(SUMS[: rows_at_once(product)])
        stored = codes(sums, LANES // 4, form, y_type, strided=product.y_column != 1)
        return _numbers(call, product, (str(a_zero), str(b_zero)), tuple(stored), code_operands(form, y_type))


def form_of(call: Call) -> Requantiser:
    """How codes are made of the sums."""
    return requantise(proof(call), DType.I32)


def work(product: TwoOperands, beside: int) -> float:
    """Instructions of all blocks, with what one takes beside its steps."""
    at_once = rows_at_once(product)
    blocks = -(-product.rows // at_once) * -(-product.columns // LANES)
    return float(product.matrices * blocks * ((5 + 3 * at_once) * product.depth + beside))


def _of_sums(call: Call, product: TwoOperands, windows: IntegerWindows | None = None) -> IntegerVectorContext:
    """The numbers of a product whose sums are stored."""
    sums = stores(list(SUMS[: rows_at_once(product)]), 32, strided=product.y_column != 1)
    stored = (f"vsetvli zero, %[width], e32, m{LANES // 4}, ta, ma", *sums)
    return replace(_numbers(call, product, (zero_of(call, 0), zero_of(call, 1)), stored, ()), windows=windows)


def _numbers(
    call: Call, product: TwoOperands, zeros: tuple[str, str], stored: tuple[str, ...],
    store_operands: tuple[tuple[str, str], ...],
) -> IntegerVectorContext:  # fmt: skip
    """The numbers of a product; `zeros` are C of the zero points, `stored` what becomes of the sums."""
    a_type, b_type, y_type = call.tensor(0).dtype, call.tensor(1).dtype, call.outputs[0].dtype
    at_once, y_bytes = rows_at_once(product), y_type.bits // 8
    if product.y_column != 1:
        store_operands = (*store_operands, ("y_column", str(y_bytes * product.y_column)))
    return IntegerVectorContext(
        product, at_once, LANES, SUMS[:at_once], C_TYPES[a_type], C_TYPES[b_type], C_TYPES[y_type], y_bytes,
        "lbu" if a_type is DType.U8 else "lb", "vzext.vf2" if b_type is DType.U8 else "vsext.vf2", *zeros, stored,
        store_operands,
    )  # fmt: skip


def rows_at_once(product: TwoOperands) -> int:
    """Rows of a block."""
    return min(ROWS, product.rows)
