"""RNN, GRU and LSTM on cores with vectors of floats: thirty-two rows of all gates at once."""

from __future__ import annotations

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.recurrent import RecurrentContext
from tilewright.platforms.generic.kernels.recurrent_packed import (
    FUNCTIONS,
    PORTABLE,
    TEMPLATE,
    TYPES,
    RowBlocks,
    packed_constants,
    packed_context,
    packed_cost,
    refused,
)
from tilewright.platforms.riscv.platform import PLATFORM

BLOCKS = RowBlocks(32, 1)
"""Rows of eight registers of 128 bits."""


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[REGISTERS, *FUNCTIONS, "recurrent_rvv.h"],
    numerics="1e-4", preference=20, requires=Needs(has=("fpu", "rvv")),
)  # fmt: skip
class RecurrentVectorF32(KernelMethods):
    """All that the portable kernel computes, with constant weights and biases."""

    def accepts(self, call: Call) -> str | None:
        """Weights and biases that can be packed."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Packed weights; other constant operands as they are."""
        return packed_constants(operands, BLOCKS)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """That of the portable kernel."""
        return PORTABLE.scratch(operands)

    def cost(self, call: Call) -> float:
        """About a fifth of an instruction for a multiply-accumulate."""
        return packed_cost(call, 0.2)

    def context(self, operands: Operands) -> RecurrentContext:
        """That of the portable kernel, with packed weights."""
        return packed_context(operands, BLOCKS)
