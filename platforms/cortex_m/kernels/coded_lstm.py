"""An LSTM on codes on cores with the DSP or the vector extension: four rows, the gates of a unit, at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import coded_lstm as portable

PORTABLE = portable.CodedLstm()
TEMPLATE, HEADER = (f"../../generic/kernels/coded_lstm.{end}" for end in ("c.mako", "h"))
GATES = "coded_lstm_gates.h"
SMALLEST = -127
"""Two such weights share 16 bits as 256 * one + the other."""
DSP_BLOCK, MVE_BLOCK = 4, 8
"""Inputs of a row that lie together."""


def paired(rows: Array) -> Array:
    """[directions, hidden, 4, depth] as words: of four inputs two of the first two gates, then two of the others."""
    values = rows.astype(np.int64)
    halves = (values[:, :, 0::2] + 256 * values[:, :, 1::2]) & 0xFFFF
    words = halves[..., 0::2] | halves[..., 1::2] << 16
    return words.reshape(*words.shape[:3], -1, 2).swapaxes(2, 3)


def in_eights(rows: Array) -> Array:
    """[directions, hidden, 4, depth] as [..., depth / 8, 4, 8]."""
    return rows.reshape(*rows.shape[:3], -1, MVE_BLOCK).swapaxes(2, 3)


@PLATFORM.kernel(
    "CodedLstm", types=portable.TYPES, template=TEMPLATE, sources=["dsp.h", GATES, HEADER, "coded_lstm_dsp.h"],
    numerics="exact", preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class CodedLstmDsp(KernelMethods):
    """Two products an instruction, one sign extension for the weights of two gates."""

    def accepts(self, call: Call) -> str | None:
        """Weights above -128."""
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        if min(int(call.constants[index].min()) for index in (3, 5)) < SMALLEST:
            return f"a weight lies below {SMALLEST}, two of them would leave 16 bits"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Words of weights, and those of the portable kernel."""
        return portable.lstm_constants(operands, DSP_BLOCK, paired, DType.U32)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """Cell, input and states."""
        return portable.lstm_scratch(operands.call, DSP_BLOCK)

    def cost(self, call: Call) -> float:
        """About one instruction for a product, and those of the gates."""
        products, units = portable.lstm_work(call)
        return 1.1 * products + 190.0 * units

    def context(self, operands: Operands) -> portable.LstmContext:
        """The numbers of the call."""
        context = portable.lstm_context(operands.call, DSP_BLOCK)
        return replace(context, w_type="uint32_t", codes_in_element=4)


@PLATFORM.kernel(
    "CodedLstm", types=portable.TYPES, template=TEMPLATE, sources=["dsp.h", "mve.h", GATES, HEADER, "coded_lstm_mve.h"],
    numerics="exact", preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class CodedLstmMve(KernelMethods):
    """Eight products an instruction."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in eights, and those of the portable kernel."""
        return portable.lstm_constants(operands, MVE_BLOCK, in_eights)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """Cell, input and states."""
        return portable.lstm_scratch(operands.call, MVE_BLOCK)

    def cost(self, call: Call) -> float:
        """About a third of an instruction for a product, and those of the gates."""
        products, units = portable.lstm_work(call)
        return 0.35 * products + 190.0 * units

    def context(self, operands: Operands) -> portable.LstmContext:
        """The numbers of the call."""
        return portable.lstm_context(operands.call, MVE_BLOCK)
