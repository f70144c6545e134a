"""Normalisations of floats in vectors: the mean of a row, that of its squares, and elements under factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import literal
from tilewright.operators import NormRows, norm_rows, row_parameter
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.riscv.platform import PLATFORM

LANES = 32
ROW, PART, TURN = 90, 20, 34
"""Instructions of a row, of a run under one factor, and of thirty-two elements."""
CENTRED = ("LayerNormalization", "InstanceNormalization", "GroupNormalization")


@dataclass(frozen=True)
class NormVectorContext:
    """Rows, C of what is added to the mean of squares, whether rows lose their mean and get a bias."""

    rows: NormRows
    epsilon: str
    centred: bool
    bias: bool


@PLATFORM.kernel(
    *CENTRED, "RMSNormalization", types="f32, f32, f32? -> f32", template="norm_vector_f32.c.mako", layout="default",
    numerics="1e-5", preference=30, requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class NormVectorF32(KernelMethods):
    """Rows one after the other, in two or three passes."""

    def accepts(self, call: Call) -> str | None:
        """Rows that lie side by side, constant parameters, no other result, no activation behind."""
        if call.node.clamp is not None:
            return "an activation is fused behind it, the kernel has none"
        if len(call.outputs) != 1 or call.integer("stash_type", 1) != 1:
            return "its statistics are results, or are no floats of 32 bits"
        rows = norm_rows(call)
        if rows is None or not call.tensor(0).elements:
            return "its rows do not lie side by side, or it has no elements"
        parameters = [index for index in (1, 2) if call.optional(index) is not None]
        if any(row_parameter(call, index, rows) is None for index in parameters):
            return "its parameters are no constants"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Factors and addends of every set of rows."""
        call = operands.call
        rows = norm_rows(call)
        assert rows is not None
        parameters = (("factors", row_parameter(call, 1, rows)), ("addends", row_parameter(call, 2, rows)))
        return tuple(
            Constant(name, DType.F32, values.reshape(-1).astype(np.float32))
            for name, values in parameters
            if values is not None
        )

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each element is read for the last time just before its result is written."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """A root for every row, turns over its elements."""
        rows = norm_rows(call)
        assert rows is not None
        parts = rows.length // rows.span if rows.span > 1 else 1
        turns = parts * -(-rows.length // parts // LANES)
        return float(rows.count * (ROW + parts * PART + turns * TURN))

    def context(self, operands: Operands) -> NormVectorContext:
        """Sizes and numbers."""
        call = operands.call
        rows = norm_rows(call)
        assert rows is not None
        epsilon = literal(DType.F32, float(np.float32(call.real("epsilon", 1e-5))))
        return NormVectorContext(rows, epsilon, call.node.op in CENTRED, call.optional(2) is not None)
