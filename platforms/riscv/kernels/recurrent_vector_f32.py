"""RNN, GRU and LSTM on cores with vectors of floats: thirty-two rows of all gates at once."""

from __future__ import annotations

from tilewright.platform import Needs
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.recurrent_packed import FUNCTIONS, TEMPLATE, TYPES, PackedMethods, RowBlocks
from tilewright.platforms.riscv.platform import PLATFORM


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[REGISTERS, *FUNCTIONS, "recurrent_rvv.h"],
    numerics="1e-4", preference=20, requires=Needs(has=("fpu", "rvv")),
)  # fmt: skip
class RecurrentVectorF32(PackedMethods):
    """All that the portable kernel computes, with constant weights and biases, in eight registers of 128 bits."""

    _blocks = RowBlocks(32, 1)
    _product = 0.2
