"""Float products on cores with a floating-point unit: one row by sixteen columns, or six rows by four.

A single row loads every weight once and cannot do with less than two instructions for a multiply-accumulate; rows
in sixes share them: 36 instructions for 24.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS, matrix_in_blocks, refused_product
from tilewright.platforms.generic.kernels.float_text import clamp_text, limit_texts
from tilewright.platforms.riscv.kernels.conv_f32 import PIXELS, WIDTH
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class DenseWork(Work):
    """Products of a single row, those of rows in blocks, and results."""

    row_products: float
    block_products: float
    results: float


COLUMNS = (16, 8, 4)
"""Columns of one row at once."""
PRICES = DenseWork(row_products=2.13, block_products=1.6, results=7.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class DenseContext:
    """`rows` x `inputs` times `inputs` x `columns`; `width` columns and `at_once` rows in registers."""

    rows: int
    inputs: int
    columns: int
    width: int
    at_once: int
    clamp: str
    low: str
    high: str


def shape_of(call: Call) -> tuple[int, int, int]:
    """Rows, inputs and columns."""
    x = call.tensor(0)
    return x.elements // x.shape[-1], x.shape[-1], call.outputs[0].shape[-1]


def at_once(rows: int) -> int:
    """Rows of a block: one where there are fewer than the smallest block."""
    return next((pixels for pixels in PIXELS if rows >= pixels), 1)


def width_of(rows: int, columns: int) -> int:
    """Columns of a block: for one row the widest that computes few zeros."""
    if at_once(rows) > 1:
        return WIDTH
    return min(COLUMNS, key=lambda width: -(-columns // width) * (2 * width + 4))


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="dense_f32.c.mako", layout=("rows", "default"),
    sources=[REGISTERS, "blocks_f32.h", "rows_f32.h"], numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class DenseBlockF32(KernelMethods):
    """Float matrix product with a constant right-hand side."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with a constant bias."""
        return refused_product(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by columns, rows in the order in which the operand lies in memory."""
        rows, _, columns = shape_of(operands.call)
        return (Constant("w", DType.F32, matrix_in_blocks(operands, width_of(rows, columns))),)

    def cost(self, call: Call) -> float:
        """Products and results."""
        rows, inputs, columns = shape_of(call)
        products = rows * inputs * columns
        single = at_once(rows) == 1
        row, blocks = (products, 0) if single else (0, products)
        return DenseWork(row_products=row, block_products=blocks, results=rows * columns).priced(PRICES)

    def context(self, operands: Operands) -> DenseContext:
        """The numbers of the layer."""
        rows, inputs, columns = shape_of(operands.call)
        return DenseContext(
            rows=rows,
            inputs=inputs,
            columns=columns,
            width=width_of(rows, columns),
            at_once=at_once(rows),
            clamp=clamp_text("v", operands.call.node.clamp),
            low=limit_texts(operands.call.node.clamp)[0],
            high=limit_texts(operands.call.node.clamp)[1],
        )
