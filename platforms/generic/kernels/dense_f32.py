"""Float Gemm and MatMul with constant weights: rows times a vector of columns, weights repacked by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Layout, Operands
from tilewright.platforms.generic.kernels.blocks import Block, channel_blocks
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE, clamp_text
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class DenseContext:
    """`rows` x `depth` times `depth` x `columns`; weights lie [block][depth][width]."""

    attribute: str
    rows: int
    depth: int
    columns: int
    at_once: int
    blocks: tuple[Block, ...]
    bias: bool
    clamp: str


def block_width(columns: int, rows: int) -> int:
    """Accumulators per row: 64 for one row, so that weights stream, else 16."""
    widest = 64 if rows == 1 else 16
    return next((w for w in (widest, 32, 16, 8) if columns % w == 0), min(columns, widest))


def weights_of(call: Call) -> Array:
    """The constant right-hand matrix as [depth, columns], Gemm's alpha and transposition applied."""
    weights = call.constants[1]
    if call.node.op == "MatMul":
        return weights
    if call.integer("transB", 0):
        weights = weights.T
    return np.asarray(weights * np.float32(call.real("alpha", 1.0)), np.float32)


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="dense_f32.c.mako", layout=("rows", "default"),
    sources=["vectorised.h"], numerics="1e-5", preference=10,
)  # fmt: skip
class DenseF32(KernelMethods):
    """Float matrix product with a constant right-hand side."""

    def accepts(self, call: Call) -> str | None:
        """Constant matrix of rank two and a constant bias with one value per column or one for all."""
        if 1 not in call.constants or call.constants[1].ndim != 2:
            return "the right-hand side is no constant matrix, the kernel repacks it at compile time"
        if len(call.shape(0)) < 2:
            return "the left-hand side is a vector, the kernel handles matrices"
        if call.node.op == "Gemm" and call.integer("transA", 0):
            return "the left-hand side is transposed, the kernel reads it by rows"
        if (bias := call.optional(2)) is not None:
            columns = call.outputs[0].shape[-1]
            if 2 not in call.constants:
                return "the bias is computed at run time"
            if bias.elements not in (1, columns) or (bias.elements > 1 and bias.shape[-1] != columns):
                return "the bias is not one value per column"
        return None

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by block, rows in the order in which the operand lies in memory; bias with beta applied."""
        call = operands.call
        x = call.tensor(0)
        weights = weights_of(call)
        layout = operands.layout(x)
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        rows, columns = x.elements // x.shape[-1], weights.shape[1]
        width = block_width(columns, rows)
        parts = [np.ascontiguousarray(weights[:, at : at + width]).reshape(-1) for at in range(0, columns, width)]
        constants = [Constant("w", DType.F32, np.concatenate(parts))]
        if 2 in call.constants:
            bias = np.broadcast_to(call.constants[2].reshape(-1), (columns,))
            constants.append(
                Constant("bias", DType.F32, np.asarray(bias * np.float32(call.real("beta", 1.0)), np.float32))
            )
        return tuple(constants)

    def cost(self, call: Call) -> float:
        """About a fifth of an instruction per multiply-accumulate."""
        return 0.2 * call.outputs[0].elements * call.shape(0)[-1]

    def context(self, operands: Operands) -> DenseContext:
        """The numbers of the block."""
        call = operands.call
        x = call.tensor(0)
        depth, columns = x.shape[-1], call.outputs[0].shape[-1]
        rows = x.elements // depth
        return DenseContext(
            attribute=ATTRIBUTE,
            rows=rows,
            depth=depth,
            columns=columns,
            at_once=min(4, rows),
            blocks=channel_blocks(columns, depth, block_width(columns, rows)),
            bias=2 in call.constants,
            clamp=clamp_text("v", call.node.clamp),
        )


def memory_order(layout: Layout) -> Array:
    """For every position in memory the logical flat index that lies there."""
    return layout.pack(np.arange(layout.elements))
