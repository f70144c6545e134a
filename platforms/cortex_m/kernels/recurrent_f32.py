"""RNN, GRU and LSTM on cores with a floating-point unit: four rows of a gate at a time, weights behind their biases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.operators import recurrent_cell
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS, in_blocks
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.recurrent import GATES, Recurrent, RecurrentContext

PORTABLE = Recurrent()
WIDTH = 4
"""Rows of a block."""


def packed(weights: Array, starts: Array) -> Array:
    """[gates, hidden, inputs] and their starts [gates, hidden] in blocks of rows, gate by gate."""
    return np.concatenate([in_blocks(gate, start, WIDTH) for gate, start in zip(weights, starts, strict=True)])


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", template="../../generic/kernels/recurrent.c.mako", numerics="1e-4",
    types="f32, f32, f32, f32?, i32|i64?, f32?, f32?, f32? -> f32?, f32?, f32?",
    sources=[REGISTERS, "fpu.h"], preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class RecurrentFpu(KernelMethods):
    """All that the portable kernel computes, with constant weights and biases."""

    def accepts(self, call: Call) -> str | None:
        """Weights and biases that can be packed."""
        if any(call.optional(index) is not None and index not in call.constants for index in (1, 2, 3)):
            return "weights or biases are computed at run time, the kernel repacks them at compile time"
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Packed weights; other constant operands as they are."""
        call = operands.call
        gates, hidden = GATES[call.node.op], recurrent_cell(call).hidden
        count = call.shape(1)[0]
        biases = call.constants.get(3, np.zeros((count, 2 * gates * hidden), np.float32))
        starts = biases.reshape(count, 2, gates, hidden)
        weights = [
            Constant(
                name,
                DType.F32,
                packed(call.constants[index].reshape(count * gates, hidden, -1), starts[:, side].reshape(-1, hidden)),
            )
            for index, (name, side) in enumerate((("w", 0), ("r", 1)), start=1)
        ]
        return (*weights, *constants_by_name(operands, 0, *range(4, len(call.inputs))))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """That of the portable kernel."""
        return PORTABLE.scratch(operands)

    def cost(self, call: Call) -> float:
        """About one and a half instructions for a multiply-accumulate, and the functions of the gates."""
        cell = recurrent_cell(call)
        functions = 300.0 * cell.steps * cell.batch * cell.hidden * len(cell.directions) * GATES[call.node.op]
        return 1.5 * PORTABLE.cost(call) + functions

    def context(self, operands: Operands) -> RecurrentContext:
        """That of the portable kernel, with packed weights."""
        cell = recurrent_cell(operands.call)
        rows = cell.hidden + -cell.hidden % WIDTH
        elements = rows * (1 + cell.inputs), rows * (1 + cell.hidden)
        return replace(PORTABLE.context(operands), gate_elements=elements, packed=True)
