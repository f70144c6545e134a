"""RNN, GRU and LSTM of floats with constant weights whose rows of all gates lie in blocks, as registers hold them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from tilewright.operators import recurrent_cell
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.recurrent import GATES, PackedGates, Recurrent, RecurrentContext

PORTABLE = Recurrent()
TEMPLATE, *FUNCTIONS = (f"../../generic/kernels/{name}" for name in ("recurrent.c.mako", "vectorised.h", "functions.h"))
TYPES = "f32, f32, f32, f32?, i32|i64?, f32?, f32?, f32? -> f32?, f32?, f32?"


@dataclass(frozen=True)
class RowBlocks:
    """Rows of a block, and the number that rows are filled up to a multiple of."""

    rows: int
    multiple: int

    def filled(self, rows: int) -> int:
        """So many rows with those that fill the last block."""
        return rows + -rows % self.multiple

    def packed(self, rows: Array) -> Array:
        """[rows, inputs] as [block][input][row of the block]."""
        filled = np.pad(rows, ((0, -len(rows) % self.multiple), (0, 0)))
        blocks = [filled[at : at + self.rows].T.reshape(-1) for at in range(0, len(filled), self.rows)]
        return np.concatenate(blocks).astype(np.float32)


def packed_constants(operands: Operands, blocks: RowBlocks) -> tuple[Constant, ...]:
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
        Constant("w", DType.F32, np.concatenate([blocks.packed(each) for each in w])),
        Constant("r", DType.F32, np.concatenate([blocks.packed(part) for part in parts])),
        Constant("b", DType.F32, np.ascontiguousarray(starts, np.float32).reshape(-1)),
        *constants_by_name(operands, 0, *range(4, len(call.inputs))),
    )


def packed_context(operands: Operands, blocks: RowBlocks) -> RecurrentContext:
    """That of the portable kernel, with packed weights."""
    call = operands.call
    cell, gates = recurrent_cell(call), GATES[call.node.op]
    rows, last = gates * cell.hidden, cell.hidden if call.node.op == "GRU" else 0
    reset = bool(last and call.integer("linear_before_reset", 0))
    first = blocks.filled(rows - last)
    return replace(
        PORTABLE.context(operands),
        packed=PackedGates(
            w=blocks.filled(rows) * cell.inputs,
            r=(first + blocks.filled(last)) * cell.hidden,
            r_last=first * cell.hidden,
            starts=rows + cell.hidden * reset,
        ),
    )


class PackedMethods(KernelMethods):
    """What all kernels with packed rows answer alike; they differ in their C, their blocks and what a product takes."""

    _blocks: ClassVar[RowBlocks]
    _product: ClassVar[float]

    def accepts(self, call: Call) -> str | None:
        """Weights and biases that can be packed."""
        if any(call.optional(index) is not None and index not in call.constants for index in (1, 2, 3)):
            return "weights or biases are computed at run time, the kernel repacks them at compile time"
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Packed weights; other constant operands as they are."""
        return packed_constants(operands, self._blocks)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """That of the portable kernel."""
        return PORTABLE.scratch(operands)

    def cost(self, call: Call) -> float:
        """Instructions of products, and of the functions of the gates."""
        cell = recurrent_cell(call)
        units = cell.steps * cell.batch * cell.hidden * len(cell.directions)
        return self._product * PORTABLE.cost(call) + 60.0 * units * GATES[call.node.op]

    def context(self, operands: Operands) -> RecurrentContext:
        """That of the portable kernel, with packed weights."""
        return packed_context(operands, self._blocks)
