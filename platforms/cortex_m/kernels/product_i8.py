"""Integer MatMul of two operands of the run time on cores with the DSP extension, by the matrix core.

Its weights are columns of the right-hand side that are packed in scratch, so many at a time that packing them and
widening the rows anew for them costs little beside the products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, SHIFTS, RoundedDivision, proof, requantise, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Tensor, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import product_i8 as portable
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands


@dataclass(frozen=True)
class ProductWork(Work):
    """Instructions of the matrix core; codes of results; widened and packed inputs; blocks of rows."""

    core_instructions: float
    results: float
    widened: float
    packed: float
    blocks: float


PRICES = ProductWork(core_instructions=1.1, results=9.0, widened=3.5, packed=1.5, blocks=60.0)
"""Instructions for one unit of each kind of work."""
MOST_COLUMNS = 32
"""Columns that are packed at a time."""


@dataclass(frozen=True)
class ProductContext:
    """The product with `chunk` columns at a time, whose packed form takes `packed` words; see `product_dsp.h`."""

    product: TwoOperands
    chunk: int
    packed: int
    at_once: int
    form: str
    shape: tuple[int, ...]
    a_type: str
    b_type: str
    y_type: str


def refusal(call: Call) -> str | None:
    """None for a product whose codes come from one multiplication, or why not."""
    why = portable.refused(call) or matrix_i8.refusal(call)
    return None if why is not None and portable.refused(call) is None and exact_form(call) is not None else why


def exact_form(call: Call) -> tuple[int, int] | None:
    """Multiplier and shift of a requantisation with ties to even: multiplier / 2^(32 + shift) is exact."""
    form = requantise(proof(call))
    if not isinstance(form, RoundedDivision) or not form.by_shift or form.bits:
        return None
    numerator, exponent = form.numerator.values[0], form.denominator.values[0]
    if exponent < 32:
        numerator, exponent = numerator << (32 - exponent), 32
    return (numerator, exponent - 32) if numerator < 1 << 31 and exponent <= 62 else None


def codes_constant(call: Call) -> Constant:
    """As for the matrix core; of an exact form zero point, shift, limits and multiplier."""
    exact = exact_form(call)
    if exact is None:
        return matrix_i8.codes_constant(call)
    form = requantise(proof(call))
    zero = the_quantisation(call.outputs[0]).zero_point[0]
    return Constant("codes", DType.I32, np.asarray([zero, exact[1], form.low, form.high, exact[0]], np.int32))


def chunk_of(columns: int, most: int, unit: int) -> int:
    """Columns at a time, a multiple of `unit` where there are as many: about equal parts, of which the last overlaps
    the one before."""
    unit = next((size for size in (unit, 2, 1) if columns >= size), 1)
    for parts in range(-(-columns // most), columns + 1):
        share = -(-columns // parts)
        if (chunk := share + -share % unit) <= columns:
            return chunk
    return columns


def flip_of(tensor: Tensor) -> tuple[int, int]:
    """What makes four codes signed ones by an exclusive or, and their zero point then."""
    zero = the_quantisation(tensor).zero_point[0]
    return (0x80808080, zero - 128) if tensor.dtype is DType.U8 else (0, zero)


def form_of(call: Call) -> str:
    """Which form of the functions makes the codes."""
    if exact_form(call) is not None:
        return "_exact"
    form = requantise(proof(call))
    return "" if (form.low, form.high) == (-128, 127) else "_limited"


def shape_of(operands: Operands, columns: int) -> tuple[int, ...]:
    """Members of the struct that the functions take; a single column is computed twice where `columns` are two."""
    product, call = two_operands(operands), operands.call
    single = columns > product.columns
    return (
        product.rows, product.depth, columns, product.a_row, product.a_step, *flip_of(call.tensor(0)),
        0 if single else product.b_column, product.b_step, *flip_of(call.tensor(1)),
        product.y_row, 0 if single else product.y_column,
    )  # fmt: skip


def packed_columns(product: TwoOperands) -> int:
    """Columns of the matrix core at a time; a single one is computed twice."""
    return max(2, product.columns if product.columns <= MOST_COLUMNS else chunk_of(product.columns, MOST_COLUMNS, 2))


def packed_bytes(product: TwoOperands) -> int:
    """Bytes of the packed columns; the last one of an odd number is packed twice."""
    columns = packed_columns(product)
    return (columns + columns % 2) * (product.depth + -product.depth % 4)


def product_cost(call: Call) -> float:
    """Instructions of a product: its work at the prices of its kinds."""
    product = two_operands(Operands(call))
    at_once, columns = matrix_i8.pixels_at_once(product.rows), packed_columns(product)
    chunks, blocks = -(-product.columns // columns), -(-product.rows // at_once)
    columns += columns % 2
    work = ProductWork(
        core_instructions=chunks * columns / 2 * blocks * product.depth / 2 * (matrix_i8.COST[at_once] + 1),
        results=chunks * columns * blocks * at_once,
        widened=chunks * blocks * at_once * product.depth,
        packed=chunks * columns * product.depth,
        blocks=chunks * columns / 2 * blocks,
    )
    return product.matrices * work.priced(PRICES)


@PLATFORM.kernel(
    "MatMul", types=portable.TYPES, template="product_dsp.c.mako", layout=("axes", "like"),
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "product_exact.h", "product_dsp.h"], preference=20,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class ProductDsp(KernelMethods):
    """Integer matrix product of two operands in dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """See `refusal`."""
        return refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant, and the numbers of the codes."""
        return (*operand_constants(operands.call), codes_constant(operands.call))

    def scratch(self, operands: Operands) -> int:
        """Packed columns and widened rows."""
        product = two_operands(operands)
        depth = product.depth + -product.depth % 4
        return packed_bytes(product) + 2 * depth * matrix_i8.pixels_at_once(product.rows)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return product_cost(call)

    def context(self, operands: Operands) -> ProductContext:
        """The numbers of the product."""
        call = operands.call
        product = two_operands(operands)
        a, b, y = call.tensor(0), call.tensor(1), call.outputs[0]
        columns, at_once = packed_columns(product), matrix_i8.pixels_at_once(product.rows)
        return ProductContext(
            product=product,
            chunk=min(columns, product.columns),
            packed=packed_bytes(product) // 4,
            at_once=at_once,
            form=form_of(call),
            shape=shape_of(operands, columns),
            a_type=C_TYPES[a.dtype],
            b_type=C_TYPES[b.dtype],
            y_type=C_TYPES[y.dtype],
        )
