"""RNN, GRU and LSTM on cores with a floating-point unit: the rows of all gates in blocks of eight."""

from __future__ import annotations

from tilewright.platform import Needs
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.recurrent_packed import FUNCTIONS, TEMPLATE, TYPES, PackedMethods, RowBlocks

BLOCKS = RowBlocks(8, 4)
"""Eight rows, four in the last block where that is enough."""


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[REGISTERS, *FUNCTIONS, "fpu.h", "recurrent_fpu.h"],
    numerics="1e-4", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class RecurrentFpu(PackedMethods):
    """All that the portable kernel computes, with constant weights and biases."""

    _blocks = BLOCKS
    _product = 1.25


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", types=TYPES, template=TEMPLATE, sources=[*FUNCTIONS, "mve.h", "recurrent_mve.h"],
    numerics="1e-4", preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class RecurrentMve(PackedMethods):
    """The same in vectors of four floats."""

    _blocks = BLOCKS
    _product = 0.8
