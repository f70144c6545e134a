"""Attention over caches of codes on cores with the DSP extension: two products an instruction, queries in pairs."""

from __future__ import annotations

from tilewright.operators import coded_widths
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.coded_attention import CodedAttention as Portable
from tilewright.platforms.generic.kernels.coded_attention import CodedContext

PORTABLE = Portable()


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8|u8, f32, i8|u8, f32, i64 -> f32", template="coded_attention_dsp.c.mako",
    sources=["dsp.h", "in_order.h", "halves.h", "coded_attention_dsp.h", "../../generic/kernels/attention_powers.h",
    "../../generic/kernels/coded_attention.h"],
    numerics="exact", preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class CodedAttentionDsp(KernelMethods):
    """The portable kernel's numbers; a word of values serves both queries of a head."""

    def accepts(self, call: Call) -> str | None:
        """Rows of whole words."""
        if call.shape(1)[3] % 4 or call.shape(3)[3] % 4:  # of bytes
            return "keys or values are no multiple of four"
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """A block's factors, scores and shares of two queries, three numbers of every line and its query."""
        size = self.context(operands)
        return 4 * (4 * size.block + 3 * size.lines) + 2 * size.lines * size.depth

    def cost(self, call: Call) -> float:
        """Less than two instructions for a product, twenty for a power."""
        (_, heads, queries, depth), rows = call.shape(0), call.shape(1)[2]
        return heads * queries * rows * (1.8 * (depth + coded_widths(call)[1]) + 25)

    def context(self, operands: Operands) -> CodedContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)
