"""Float products with constant weights on cores with vectors: six rows by sixteen columns in registers, or one row."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS, columns_of, refused_product, starts
from tilewright.platforms.generic.kernels.float_text import limit_texts
from tilewright.platforms.riscv.kernels.conv_vector_f32 import LANES, by_lanes
from tilewright.platforms.riscv.kernels.dense_f32 import at_once, shape_of
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class RowsWork(Work):
    """Products of a single row, those of rows in blocks, and results."""

    row_products: float
    block_products: float
    results: float


PRICES = RowsWork(row_products=0.27, block_products=0.19, results=1.0)
"""Instructions for one unit of each kind of work, of whole blocks of columns."""


@dataclass(frozen=True)
class RowsContext:
    """`rows` x `inputs` times `inputs` x `columns`; `at_once` rows in registers, results between `low` and `high`."""

    rows: int
    inputs: int
    columns: int
    at_once: int
    low: str
    high: str


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="dense_vector_f32.c.mako", layout=("rows", "default"),
    sources=[REGISTERS, "vector_f32.h"], numerics="1e-5", preference=25, requires=Needs(has=("fpu", "rvv")),
)  # fmt: skip
class DenseVectorF32(KernelMethods):
    """Float matrix product with a constant right-hand side, in vectors."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with a constant bias."""
        return refused_product(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by sixteen columns, rows in the order in which the operand lies in memory."""
        columns = columns_of(operands)
        return (Constant("w", DType.F32, by_lanes(columns, starts(operands.call, columns.shape[0]))),)

    def cost(self, call: Call) -> float:
        """Products and results; a narrow block of columns takes as long as a whole one."""
        rows, inputs, columns = shape_of(call)
        results = rows * -(-columns // LANES) * LANES
        single = at_once(rows) == 1
        row, blocks = (results * inputs, 0) if single else (0, results * inputs)
        return RowsWork(row_products=row, block_products=blocks, results=results).priced(PRICES)

    def context(self, operands: Operands) -> RowsContext:
        """The numbers of the layer."""
        rows, inputs, columns = shape_of(operands.call)
        low, high = limit_texts(operands.call.node.clamp)
        return RowsContext(rows, inputs, columns, at_once(rows), low, high)
