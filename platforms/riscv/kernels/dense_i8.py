"""Integer matrix products in register blocks: one row times eight columns, or up to four rows times four."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, HALF_EVEN
from tilewright.platform import Call, Constant, KernelMethods, Operands, priced
from tilewright.platforms.generic.kernels import dense_i8
from tilewright.platforms.generic.kernels.blocks import Block, channel_blocks
from tilewright.platforms.generic.kernels.conv_i8 import TYPES
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, Scalars, pixels_at_once, scalars
from tilewright.platforms.riscv.platform import PLATFORM

PRICES = (1.9, 0.95, 13.7, 3.0)
"""Instructions for one of each amount of `work`."""


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


def work(call: Call) -> tuple[float, ...]:
    """Products, loads, results and blocks."""
    rows, width, columns, depth = rows_of(call), width_of(call), call.outputs[0].shape[-1], call.shape(0)[-1]
    at_once = pixels_at_once(rows)
    places, blocks = -(-rows // at_once), -(-columns // width)
    return (
        float(places * at_once * columns * depth), float(places * depth * (columns + blocks * at_once)),
        float(places * at_once * columns), float(places * blocks),
    )  # fmt: skip


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dense_i8.c.mako", layout=("rows", "default"),
    sources=["scalar.h", HALF_EVEN], preference=30,
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
        """See `work`."""
        return priced(work(call), PRICES)

    def context(self, operands: Operands) -> DenseContext:
        """The numbers of the block."""
        return dense_context(operands)
