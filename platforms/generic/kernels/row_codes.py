"""Rows coded as they come, and their products with rows of coded weights: sums of integers, one float at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from tilewright.numerics import UnitForm, fixed_product, fixed_table
from tilewright.operators import code_block, highest_code
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, empty
from tilewright.platforms.generic.kernels.fixed_elements import moved
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

PLACES = (0, 1, 4, 5, 2, 3, 6, 7)
"""Where the weights of four bits of a group of eight lie in a word, lowest bits first by place: so a word shifted by
0, 4, 8 and 12 bits has in its two halves weights 0 and 2, 1 and 3, 4 and 6, 5 and 7, as `sxtb16` takes bytes apart."""
MIDDLE = 8
"""Added to a weight of four bits where it is stored."""


@dataclass(frozen=True)
class RowContext:
    """`rows` of `width` elements, the least that the largest of a row counts as, and that one's code."""

    rows: int
    width: int
    least: str
    highest: int


@PLATFORM.kernel("RowCodes", types="f32 -> i8, f32", template="row_codes.c.mako", numerics="exact")
class RowCodes(KernelMethods):
    """The largest of a row, then its codes, rounded to even by an addition."""

    def accepts(self, call: Call) -> str | None:
        """Both results."""
        return empty(call) or (None if len(call.outputs) == 2 else "the largest elements are not used")

    def cost(self, call: Call) -> float:
        """Two passes over the elements."""
        return 11.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> RowContext:
        """Sizes."""
        call, shape = operands.call, operands.call.shape()
        return RowContext(prod(shape[:-1]), shape[-1], literal(DType.F32, call.real("least")), highest_code(call))


@dataclass(frozen=True)
class FixedEnd:
    """What becomes of sums where results are in fixed point: the upper half of a product with the row's unit."""

    form: UnitForm

    @property
    def begin(self) -> tuple[str, ...]:
        """C of the numbers of a row."""
        shifted = "(int32_t)((uint32_t)most[row] << room)"
        return (
            "const int room = tilewright_fixed_room((uint32_t)most[row]);",
            f"const int away = {self.form.exponent} - room > -31 ? {self.form.exponent} - room : -31;",
            f"const int32_t unit = 2 * tilewright_fixed_high({shifted}, {self.form.unit});",
        )

    def of(self, sum_text: str) -> str:
        """C of a result."""
        shifted = f"(int32_t)((uint32_t){sum_text} << {self.form.room})" if self.form.room else sum_text
        return f"tilewright_fixed_moved(tilewright_fixed_high({shifted}, unit), away)"


@dataclass(frozen=True)
class ProductContext:
    """`rows` times `outputs` sums of `width` products; `block` of them share a factor, of which a row has `blocks`.

    `four`: weights lie eight to a word, `stride` bytes a row. `fixed` where results are in fixed point.
    """

    rows: int
    outputs: int
    width: int
    block: int
    blocks: int
    stride: int
    four: bool
    unit: str
    index: str = ""
    fixed: FixedEnd | None = None

    @property
    def begin(self) -> tuple[str, ...]:
        """C of the numbers of a row."""
        return (f"const float unit = most[row] * {self.unit};",) if self.fixed is None else self.fixed.begin

    @property
    def y_type(self) -> str:
        """The C type of a result."""
        return "float" if self.fixed is None else "int32_t"

    def of(self, sum_text: str) -> str:
        """C of a result from its sum."""
        return f"(float){sum_text} * unit" if self.fixed is None else self.fixed.of(sum_text)

    def place(self, within: int) -> tuple[int, int]:
        """Byte of a group of eight weights and bits to shift it by."""
        at = PLACES.index(within)
        return at // 2, at % 2 * 4


def packed(codes: Array) -> Array:
    """Rows of weights of four bits as bytes, eight weights to four of them, the last ones filled up with zeros."""
    rows = np.pad(codes.astype(np.int16) + MIDDLE, ((0, 0), (0, -codes.shape[1] % 8)), constant_values=MIDDLE)
    ordered = rows.reshape(len(codes), -1, 8)[:, :, PLACES]
    return (ordered[..., 0::2] | ordered[..., 1::2] << 4).astype(np.uint8).reshape(-1)


def weights_of(call: Call, codes: int, factors: int) -> tuple[Constant, ...]:
    """Codes and factors as they lie in memory."""
    four = call.tensor(codes).dtype is DType.I4
    rows, shares = call.constants[codes], call.constants[factors]
    laid = packed(rows) if four else rows.reshape(-1)
    return (
        Constant("w", DType.U8 if four else DType.I8, laid),
        Constant("factors", DType.I8, shares.reshape(-1)),
    )


def product_context(call: Call, codes: int, rows: int) -> ProductContext:
    """Sizes of a table of weights."""
    outputs, width = call.shape(codes)
    four, block = call.tensor(codes).dtype is DType.I4, code_block(call)
    stride = -(-width // 8) * 4 if four else width
    unit = literal(DType.F32, call.real("unit"))
    return ProductContext(rows, outputs, width, block, -(-width // block), stride, four, unit)


def refused(call: Call, codes: int, factors: int) -> str | None:
    """Why weights are none that lie in read-only memory."""
    if codes not in call.constants or factors not in call.constants:
        return "the weights are computed at run time"
    if call.tensor(codes).dtype is DType.I4 and code_block(call) % 8:
        return "weights of four bits are in blocks that are no multiple of eight"
    return empty(call)


@PLATFORM.kernel("CodeProduct", types="i8, f32, i8|i4, i8 -> f32", template="code_product.c.mako", numerics="exact")
class CodeProduct(KernelMethods):
    """Every sum by itself."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights."""
        return refused(call, 2, 3)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and factors."""
        return weights_of(operands.call, 2, 3)

    def cost(self, call: Call) -> float:
        """A load of each operand, a product and a sum."""
        return 5.0 * call.tensor(0).elements * call.shape(2)[0]

    def context(self, operands: Operands) -> ProductContext:
        """Sizes."""
        return product_context(operands.call, 2, prod(operands.call.shape(0)[:-1]))


@PLATFORM.kernel(
    "CodeProduct", types="i8, qi32, i8|i4, i8 -> qi32", template="code_product.c.mako",
    sources=["fixed.h", "fixed_moved.h", "fixed_room.h"],
)  # fmt: skip
class FixedCodeProduct(CodeProduct):
    """Every sum by itself, in fixed point."""

    def context(self, operands: Operands) -> ProductContext:
        """Sizes, and the numbers of the unit."""
        return replace(super().context(operands), fixed=FixedEnd(fixed_product(operands.call)))


@PLATFORM.kernel(
    "CodeRows", types="i8|i4, i8, i64|i32 -> f32", template="code_rows.c.mako", sources=["index.h"], numerics="exact"
)
class CodeRows(KernelMethods):
    """Rows of a table as floats; an index outside takes the nearest row."""

    def accepts(self, call: Call) -> str | None:
        """A constant table, indices that come at run time."""
        return "the indices are constant" if 2 in call.constants else refused(call, 0, 1)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and factors."""
        return weights_of(operands.call, 0, 1)

    def cost(self, call: Call) -> float:
        """A conversion and a product for each element."""
        return 8.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> ProductContext:
        """Sizes, and the type of an index."""
        product = product_context(operands.call, 0, operands.call.tensor(2).elements)
        return replace(product, index=c_type(operands.call.tensor(2)))


ROWS = CodeRows()


@dataclass(frozen=True)
class FixedRowsContext:
    """Sizes of the table, and how a product of code and factor becomes a number in fixed point."""

    table: ProductContext
    form: UnitForm

    @property
    def result(self) -> str:
        """C of a number from a product that fills 31 bits."""
        return moved(f"tilewright_fixed_high(product, {self.form.unit})", self.form.exponent)


@PLATFORM.kernel(
    "CodeRows", types="i8|i4, i8, i64|i32 -> qi32", template="fixed_rows.c.mako", sources=["index.h", "fixed.h"]
)
class FixedCodeRows(KernelMethods):
    """Rows of a table in fixed point; an index outside takes the nearest row."""

    def accepts(self, call: Call) -> str | None:
        """A constant table, indices that come at run time."""
        return ROWS.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and factors."""
        return weights_of(operands.call, 0, 1)

    def cost(self, call: Call) -> float:
        """A product and its upper half for each element."""
        return 8.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> FixedRowsContext:
        """Sizes, the type of an index, and the numbers of the unit."""
        call = operands.call
        table = replace(product_context(call, 0, call.tensor(2).elements), index=c_type(call.tensor(2)))
        return FixedRowsContext(table, fixed_table(call))


@dataclass(frozen=True)
class FixedCodesContext:
    """`rows` of `width` elements whose largest has the code `highest`, of `bits` bits."""

    rows: int
    width: int
    highest: int
    bits: int


@PLATFORM.kernel(
    "RowCodes", types="qi32 -> i8, qi32", template="fixed_codes.c.mako",
    sources=["fixed.h", "fixed_room.h", "fixed_reciprocal.h"],
)  # fmt: skip
class FixedRowCodes(KernelMethods):
    """The largest of a row, a reciprocal, and an upper half for each code."""

    def accepts(self, call: Call) -> str | None:
        """Both results."""
        return empty(call) or (None if len(call.outputs) == 2 else "the largest elements are not used")

    def cost(self, call: Call) -> float:
        """Two passes over the elements, and a reciprocal a row."""
        return 15.0 * call.tensor(0).elements + 120 * call.outputs[1].elements

    def context(self, operands: Operands) -> FixedCodesContext:
        """Sizes."""
        call, shape = operands.call, operands.call.shape()
        highest = highest_code(call)
        return FixedCodesContext(prod(shape[:-1]), shape[-1], highest, highest.bit_length())
