"""Integer Gemm and MatMul with constant weights: rows times a block of columns, int32 accumulators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise, too_wide
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import Block, channel_blocks
from tilewright.platforms.generic.kernels.conv_i8 import TYPES, weights_of
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class DenseI8Context:
    """`rows` x `depth` times `depth` x `columns`; weights lie [block][depth][width]."""

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    rows: int
    depth: int
    columns: int
    at_once: int
    blocks: tuple[Block, ...]
    requantise: Requantiser


def accepts(call: Call) -> str | None:
    """Constant matrix of rank two, constant bias with one value per column."""
    if 1 not in call.constants or call.constants[1].ndim != 2:
        return "the right-hand side is no constant matrix, the kernel repacks it at compile time"
    if len(call.shape(0)) < 2:
        return "the left-hand side is a vector, the kernel handles matrices"
    if call.node.op == "Gemm" and call.integer("transA", 0):
        return "the left-hand side is transposed, the kernel reads it by rows"
    if call.optional(2) is not None:
        if 2 not in call.constants:
            return "the bias is computed at run time"
        if call.tensor(2).elements != call.outputs[0].shape[-1]:
            return "the bias is not one value per column"
    return too_wide(proof(call))


def matrix(call: Call) -> tuple[Array, DType]:
    """Weights minus their zero point as [depth, columns]."""
    weights, dtype = weights_of(call)
    transposed = call.node.op == "Gemm" and call.integer("transB", 0)
    return (weights.T if transposed else weights), dtype


def dense_constants(operands: Operands, width: int, shifts: DType = DType.I8) -> tuple[Constant, ...]:
    """Weights by block, rows in the order in which the operand lies in memory; folded starts; requantisation, with
    shifts of that type."""
    call = operands.call
    weights, dtype = matrix(call)
    layout = operands.layout(call.tensor(0))
    if not layout.is_default:
        weights = weights[memory_order(layout)]
    columns = weights.shape[1]
    width = min(width, columns)
    parts = [np.ascontiguousarray(weights[:, at : at + width]).reshape(-1) for at in range(0, columns, width)]
    start = np.broadcast_to(np.asarray(accumulator(call).start, np.int32), (columns,))
    requantisation = requantise(proof(call), shifts).constants
    return (Constant("w", dtype, np.concatenate(parts)), Constant("bias", DType.I32, start), *requantisation)


def dense_context(operands: Operands, width: int, rows_at_once: int, attribute: str) -> DenseI8Context:
    """The numbers of the block."""
    call = operands.call
    x = call.tensor(0)
    _, dtype = matrix(call)
    depth, columns = x.shape[-1], call.outputs[0].shape[-1]
    rows = x.elements // depth
    return DenseI8Context(
        attribute=attribute,
        x_type=C_TYPES[x.dtype],
        w_type=C_TYPES[dtype],
        y_type=C_TYPES[call.outputs[0].dtype],
        rows=rows,
        depth=depth,
        columns=columns,
        at_once=min(rows_at_once, rows),
        blocks=channel_blocks(columns, depth, min(width, columns)),
        requantise=requantise(proof(call)),
    )


def block_width(call: Call) -> int:
    """Columns per block: 32 for one row, so that weights stream, else 16."""
    x = call.tensor(0)
    return 32 if x.elements == x.shape[-1] else 16


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dense_i8.c.mako", layout=("rows", "default"),
    sources=["vectorised.h", *ROUNDING], preference=10,
)  # fmt: skip
class DenseI8(KernelMethods):
    """Integer matrix product with a constant right-hand side."""

    def accepts(self, call: Call) -> str | None:
        """What every integer matrix product asks for."""
        return accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of columns."""
        return dense_constants(operands, block_width(operands.call))

    def context(self, operands: Operands) -> DenseI8Context:
        """Blocks of up to four rows."""
        return dense_context(operands, block_width(operands.call), 4, ATTRIBUTE)
