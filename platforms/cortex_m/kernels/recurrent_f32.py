"""RNN, GRU and LSTM on cores with a floating-point unit: the rows of all gates in blocks of eight."""

from __future__ import annotations

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
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

BLOCKS = RowBlocks(8, 4)
"""Eight rows, four in the last block where that is enough."""


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
        return packed_constants(operands, BLOCKS)

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
        return packed_context(operands, BLOCKS)


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[*FUNCTIONS, "mve.h", "recurrent_mve.h"],
    numerics="1e-4", preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class RecurrentMve(RecurrentFpu):
    """The same in vectors of four floats."""

    def cost(self, call: Call) -> float:
        """About four fifths of an instruction for a multiply-accumulate."""
        return packed_cost(call, 0.8)
