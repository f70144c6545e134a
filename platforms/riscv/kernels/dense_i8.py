"""Integer matrix products in register blocks: one row times eight columns, or up to four rows times four."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, ROUNDING
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels import dense_i8
from tilewright.platforms.generic.kernels.blocks import Block, channel_blocks
from tilewright.platforms.generic.kernels.conv_i8 import TYPES
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, Scalars, pixels_at_once, scalars
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class DenseWork(Work):
    """Products, loads, results and blocks."""

    products: float
    loads: float
    results: float
    blocks: float


PRICES = DenseWork(products=1.9, loads=0.95, results=13.7, blocks=3.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class DenseContext:
    """`rows` x `depth` times `depth` x `columns`, `at_once` rows at a time; weights lie [block][depth][width]."""

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    rows: int
    depth: int
    columns: int
    at_once: int
    blocks: tuple[Block, ...]
    requantise: Scalars


def rows_of(call: Call) -> int:
    """Rows of the left-hand side."""
    x = call.tensor(0)
    return x.elements // x.shape[-1]


def width_of(call: Call) -> int:
    """Columns per block: eight for a single row, else four."""
    return 8 if rows_of(call) == 1 else 4


def dense_context(operands: Operands) -> DenseContext:
    """The numbers of a block."""
    call = operands.call
    x, y = call.tensor(0), call.outputs[0]
    _, dtype = dense_i8.matrix(call)
    depth, columns = x.shape[-1], y.shape[-1]
    return DenseContext(
        attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
        rows=rows_of(call), depth=depth, columns=columns, at_once=pixels_at_once(rows_of(call)),
        blocks=channel_blocks(columns, depth, min(width_of(call), columns)), requantise=scalars(call),
    )  # fmt: skip


def work(call: Call) -> DenseWork:
    """The work of one call."""
    rows, width, columns, depth = rows_of(call), width_of(call), call.outputs[0].shape[-1], call.shape(0)[-1]
    at_once = pixels_at_once(rows)
    places, blocks = -(-rows // at_once), -(-columns // width)
    return DenseWork(
        products=places * at_once * columns * depth,
        loads=places * depth * (columns + blocks * at_once),
        results=places * at_once * columns,
        blocks=places * blocks,
    )


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dense_i8.c.mako", layout=("rows", "default"),
    sources=["scalar.h", *ROUNDING], preference=30, requires=Needs(lacks=("rvv",)),
)  # fmt: skip
class DenseBlockI8(KernelMethods):
    """Integer matrix product in register blocks."""

    def accepts(self, call: Call) -> str | None:
        """What every integer matrix product asks for."""
        return dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of columns."""
        return dense_i8.dense_constants(operands, width_of(operands.call))

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> DenseContext:
        """The numbers of the block."""
        return dense_context(operands)
