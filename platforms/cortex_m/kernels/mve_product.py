"""Integer MatMul of two operands of the run time on cores with the vector extension: eight columns at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import product_i8
from tilewright.platforms.cortex_m.kernels.mve import VECTOR
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import product_i8 as portable
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands


@dataclass(frozen=True)
class ProductWork(Work):
    """Steps of sixteen inputs and eight columns, those of up to eight inputs, and those blocks; rows; packed inputs."""

    steps: float
    short_steps: float
    blocks: float
    rows: float
    packed: float


PRICES = ProductWork(steps=19.0, short_steps=17.0, blocks=45.0, rows=75.0, packed=4.0)
"""Instructions for one unit of each kind of work."""
MOST_COLUMNS = 16
"""Columns that are packed at a time."""
EIGHT = 8


@dataclass(frozen=True)
class ProductContext:
    """The product with `chunk` columns at a time; bytes of scratch at which their starts lie, and a copied row.
    `line`: bytes of a column where a row lies in one vector, else 0.
    """

    product: TwoOperands
    chunk: int
    starts: int
    copy: int
    form: str
    line: int
    shape: tuple[int, ...]
    a_type: str
    b_type: str
    y_type: str


def is_short(depth: int) -> bool:
    """True for columns of up to eight inputs, which take eight bytes each."""
    return depth <= EIGHT


def column_bytes(depth: int) -> int:
    """Bytes of a packed column."""
    return EIGHT if is_short(depth) else depth + -depth % VECTOR


def copied_bytes(depth: int) -> int:
    """Bytes of a copied row; one of few inputs lies in a vector."""
    return 0 if is_short(depth) else column_bytes(depth)


def parts_of(product: TwoOperands) -> tuple[int, int, int]:
    """Columns at a time, bytes of their packed form, those of their starts."""
    few = product.columns <= (MOST_COLUMNS if product.depth <= VECTOR else EIGHT)
    chunk = product.columns if few else product_i8.chunk_of(product.columns, MOST_COLUMNS, EIGHT)
    whole = chunk + -chunk % EIGHT
    return chunk, whole * column_bytes(product.depth), 4 * whole


def product_cost(call: Call) -> float:
    """Instructions of a product: its work at the prices of its kinds."""
    product = two_operands(Operands(call))
    chunk, packed, starts = parts_of(product)
    chunks = -(-product.columns // chunk)
    blocks = chunks * product.rows * starts / (4 * EIGHT)
    work = ProductWork(
        steps=0.0 if is_short(product.depth) else blocks * -(-product.depth // VECTOR),
        short_steps=blocks if is_short(product.depth) else 0.0,
        blocks=blocks,
        rows=chunks * product.rows,
        packed=chunks * packed,
    )
    return product.matrices * work.priced(PRICES)


@PLATFORM.kernel(
    "MatMul", types=portable.TYPES, template="mve_product.c.mako", layout=("axes", "like"),
    sources=["mve.h", "product_exact.h", "product_mve.h"], preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class ProductMve(KernelMethods):
    """Integer matrix product of two operands: eight columns, sixteen inputs at a time."""

    def accepts(self, call: Call) -> str | None:
        """What the kernel of dual multiplies accepts."""
        return product_i8.refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant, and the numbers of the codes."""
        return (*operand_constants(operands.call), product_i8.codes_constant(operands.call))

    def scratch(self, operands: Operands) -> int:
        """Packed columns, their starts and a row."""
        product = two_operands(operands)
        _, packed, starts = parts_of(product)
        return packed + starts + copied_bytes(product.depth)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return product_cost(call)

    def context(self, operands: Operands) -> ProductContext:
        """The numbers of the product."""
        call, product = operands.call, two_operands(operands)
        chunk, packed, starts = parts_of(product)
        shape = product_i8.shape_of(operands, chunk)
        types = (C_TYPES[tensor.dtype] for tensor in (call.tensor(0), call.tensor(1), call.outputs[0]))
        form = "_short" if is_short(product.depth) else ""
        form += "_exact" if product_i8.exact_form(call) is not None else ""
        lies = product.a_step == product.y_column == 1 and product.depth <= VECTOR
        plain = call.tensor(0).dtype is DType.I8 and product_i8.exact_form(call) is None
        line = column_bytes(product.depth) if lies and plain else 0
        signed = tuple(number & 0xFF if number >= 1 << 31 else number for number in shape)
        return ProductContext(product, chunk, packed, packed + starts, form, line, signed, *types)
