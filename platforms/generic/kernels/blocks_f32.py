"""What float kernels share that hold blocks of sums in the registers of a floating-point unit: packed weights, numbers.

The channels of a block lie side by side behind their starts, `[block][1 + depth][width]`, so that one pointer walks
them; the last block is filled with zeros.
"""

from __future__ import annotations

import numpy as np
from tilewright.platform import Array, Call, Operands
from tilewright.platforms.generic.kernels.dense_f32 import DenseF32, memory_order, weights_of

REGISTERS = "../../generic/kernels/registers_f32.h"
"""What keeps sums in registers, as a source of another platform's kernel."""


def in_blocks(weights: Array, start: Array, width: int) -> Array:
    """[OC, K] and OC starts as [blocks][1 + K][width]."""
    columns = np.concatenate([start[:, None], weights], axis=1)
    padded = np.pad(columns, ((0, -columns.shape[0] % width), (0, 0)))
    blocks = padded.reshape(-1, width, columns.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks, np.float32).reshape(-1)


def starts(call: Call, channels: int) -> Array:
    """The constant bias, Gemm's beta applied, or zeros."""
    if 2 not in call.constants:
        return np.zeros(channels, np.float32)
    bias = np.broadcast_to(call.constants[2].reshape(-1), (channels,))
    return np.asarray(bias * np.float32(call.real("beta", 1.0)), np.float32)


def refused_product(call: Call) -> str | None:
    """None for what the portable product accepts with a constant bias, else why not."""
    if call.optional(2) is not None and 2 not in call.constants:
        return "the bias is computed at run time, the kernel packs it with the weights"
    return DenseF32().accepts(call)


def columns_of(operands: Operands) -> Array:
    """The weights of a product, [column][input], inputs in the order in which the operand lies in memory."""
    weights = weights_of(operands.call)
    layout = operands.layout(operands.call.tensor(0))
    return weights.T if layout.is_default else weights[memory_order(layout)].T


def matrix_in_blocks(operands: Operands, width: int) -> Array:
    """The weights of a product in blocks of columns."""
    columns = columns_of(operands)
    return in_blocks(columns, starts(operands.call, columns.shape[0]), width)
