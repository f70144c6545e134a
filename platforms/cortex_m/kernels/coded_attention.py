"""Attention over caches of codes on cores with the DSP extension: scores and sums of integers, two at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import literal
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.coded_attention import CodedAttention as Portable
from tilewright.platforms.generic.kernels.coded_attention import CodedContext

PORTABLE = Portable()
QUERY, SHARE = 32000, 32767
"""The largest whole number of a query and of a share."""
HELD = 16
"""Elements of a query that stay in registers."""
LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class DspContext:
    """The portable kernel's numbers; factors of scores in steps of powers of 2 and of sums, and the share that is 1."""

    size: CodedContext
    factor: str
    unit: str
    share: int
    held: bool


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8, f32, i8, f32, i64 -> f32", template="coded_attention_dsp.c.mako", numerics="1e-3",
    sources=["dsp.h", "in_order.h"], preference=20, requires=Needs(has=("dsp", "fpu")),
)  # fmt: skip
class CodedAttentionDsp(KernelMethods):
    """Queries and shares as whole numbers of sixteen bits; powers of e from tables of those of 2."""

    def accepts(self, call: Call) -> str | None:
        """Rows of whole words, of which no sum leaves 32 bits."""
        depth, width = call.shape(1)[3], call.shape(3)[3]
        if depth % 4 or width % 4:
            return "keys or values are no multiple of four"
        if depth > 512 or call.shape(1)[2] > 4096:
            return "a sum of products may leave 32 bits"
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel, and powers of 2 in steps of 1/64 and of 1/2048, 32768 for 1."""
        tables = (("coarse", 64, 64), ("fine", 32, 2048))
        powers = (
            Constant(name, DType.U16, np.rint(32768 * 2.0 ** (-np.arange(size) / steps)).astype(np.uint16))
            for name, size, steps in tables
        )
        return (*PORTABLE.constants(operands), *powers)

    def scratch(self, operands: Operands) -> int:
        """A row of scores, rows of shares and of what they are multiplied by, and a query in halves."""
        call = operands.call
        rows = call.shape(1)[2]
        return 4 * rows + 2 * (2 * rows + rows % 2) + 2 * call.shape(0)[3]

    def cost(self, call: Call) -> float:
        """Two instructions for a product, forty for a power."""
        (_, heads, queries, depth), rows = call.shape(0), call.shape(1)[2]
        return heads * queries * rows * (2.2 * (depth + call.shape(3)[3]) + 45)

    def context(self, operands: Operands) -> DspContext:
        """Sizes and factors."""
        call = operands.call
        size = PORTABLE.context(operands)
        share = min(SHARE, ((1 << 31) - 1) // (128 * size.rows))
        factor = literal(DType.F32, call.real("scale") * call.real("k_unit") * LOG2_E * 2048 / QUERY)
        unit = literal(DType.F32, call.real("v_unit") / share * (1 << 20))
        return DspContext(size, factor, unit, share, size.depth <= HELD)
