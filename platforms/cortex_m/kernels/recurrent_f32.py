"""RNN, GRU and LSTM on cores with a floating-point unit: the rows of all gates in blocks of eight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.operators import recurrent_cell
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.recurrent import GATES, PackedGates, Recurrent, RecurrentContext

PORTABLE = Recurrent()
TEMPLATE, *FUNCTIONS = (f"../../generic/kernels/{name}" for name in ("recurrent.c.mako", "vectorised.h", "functions.h"))
TYPES = "f32, f32, f32, f32?, i32|i64?, f32?, f32?, f32? -> f32?, f32?, f32?"
BLOCK, HALF = 8, 4
"""Rows of a block, and of the last one where that is enough."""


def packed(rows: Array) -> Array:
    """[rows, inputs] as [block][input][row of the block]."""
    filled = np.pad(rows, ((0, -len(rows) % HALF), (0, 0)))
    blocks = [filled[at : at + BLOCK].T.reshape(-1) for at in range(0, len(filled), BLOCK)]
    return np.concatenate(blocks).astype(np.float32)


def packed_constants(operands: Operands) -> tuple[Constant, ...]:
    """W and R in blocks; biases added up, that of a state which is multiplied afterwards behind them."""
    call = operands.call
    gates, hidden = GATES[call.node.op], recurrent_cell(call).hidden
    count = call.shape(1)[0]
    w, r = (call.constants[index].reshape(count, gates * hidden, -1) for index in (1, 2))
    biases = call.constants.get(3, np.zeros((count, 2 * gates * hidden), np.float32)).reshape(count, 2, gates * hidden)
    starts, turned = biases[:, 0] + biases[:, 1], len(w[0])
    if call.node.op == "GRU":
        turned = 2 * hidden
        if call.integer("linear_before_reset", 0):
            starts[:, turned:] = biases[:, 0, turned:]
            starts = np.concatenate([starts, biases[:, 1, turned:]], axis=1)
    parts = [part for each in r for part in (each[:turned], each[turned:]) if len(part)]
    return (
        Constant("w", DType.F32, np.concatenate([packed(each) for each in w])),
        Constant("r", DType.F32, np.concatenate([packed(part) for part in parts])),
        Constant("b", DType.F32, np.ascontiguousarray(starts, np.float32).reshape(-1)),
        *constants_by_name(operands, 0, *range(4, len(call.inputs))),
    )


def refused(call: Call) -> str | None:
    """None for weights and biases that can be packed."""
    if any(call.optional(index) is not None and index not in call.constants for index in (1, 2, 3)):
        return "weights or biases are computed at run time, the kernel repacks them at compile time"
    return PORTABLE.accepts(call)


def packed_context(operands: Operands) -> RecurrentContext:
    """That of the portable kernel, with packed weights."""
    call = operands.call
    cell, gates = recurrent_cell(call), GATES[call.node.op]

    def padded(rows: int) -> int:
        return rows + -rows % HALF

    rows, last = gates * cell.hidden, cell.hidden if call.node.op == "GRU" else 0
    reset = bool(last and call.integer("linear_before_reset", 0))
    return replace(
        PORTABLE.context(operands),
        packed=PackedGates(
            w=padded(rows) * cell.inputs,
            r=(padded(rows - last) + padded(last)) * cell.hidden,
            r_last=padded(rows - last) * cell.hidden,
            starts=rows + cell.hidden * reset,
        ),
    )


def packed_cost(call: Call, product: float) -> float:
    """Products at their price, and the functions of the gates."""
    cell = recurrent_cell(call)
    units = cell.steps * cell.batch * cell.hidden * len(cell.directions)
    return product * PORTABLE.cost(call) + 60.0 * units * GATES[call.node.op]


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[REGISTERS, *FUNCTIONS, "fpu.h", "recurrent_fpu.h"],
    numerics="1e-4", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class RecurrentFpu(KernelMethods):
    """All that the portable kernel computes, with constant weights and biases."""

    def accepts(self, call: Call) -> str | None:
        """Weights and biases that can be packed."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Packed weights; other constant operands as they are."""
        return packed_constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """That of the portable kernel."""
        return PORTABLE.scratch(operands)

    def cost(self, call: Call) -> float:
        """About one and a quarter instructions for a multiply-accumulate."""
        return packed_cost(call, 1.25)

    def context(self, operands: Operands) -> RecurrentContext:
        """That of the portable kernel, with packed weights."""
        return packed_context(operands)


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[*FUNCTIONS, "mve.h", "recurrent_mve.h"],
    numerics="1e-4", preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class RecurrentMve(RecurrentFpu):
    """The same in vectors of four floats."""

    def cost(self, call: Call) -> float:
        """About four fifths of an instruction for a multiply-accumulate."""
        return packed_cost(call, 0.8)
