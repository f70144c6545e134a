"""Attention over caches of codes on cores with the vector extension: four rows of scores and shares at a time."""

from __future__ import annotations

from tilewright.operators import ATTENTION_BLOCK, coded_widths
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.coded_attention import CodedAttention as Portable
from tilewright.platforms.generic.kernels.coded_attention import CodedContext

PORTABLE = Portable()


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8|u8, f32, i8|u8, f32, i64 -> f32", template="mve_coded_attention.c.mako",
    sources=["mve.h", "mve_fours.h", "../../generic/kernels/attention_powers.h",
    "../../generic/kernels/coded_attention.h"], numerics="exact", preference=40,
    requires=Needs(has=("mve",)),
)  # fmt: skip
class CodedAttentionMve(KernelMethods):
    """The portable kernel's numbers; a vector of values serves both queries of a head."""

    def accepts(self, call: Call) -> str | None:
        """Keys and values of whole vectors; four rows behind one another lie inside of a cache."""
        if call.shape(1)[2] % 4 or coded_widths(call)[0] % 8 or call.shape(3)[3] % 4:
            return "rows or bytes of values are no multiple of four, or keys none of eight"
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """A block's factors, scores and shares of two queries, three numbers of every line and its query."""
        size = self.context(operands)
        return 4 * (4 * ATTENTION_BLOCK + 3 * size.lines) + 2 * size.lines * size.depth

    def cost(self, call: Call) -> float:
        """Some eleven instructions for a score, its share and what it adds to."""
        (_, heads, queries, depth), rows = call.shape(0), call.shape(1)[2]
        return heads * queries * rows * (0.6 * (depth + coded_widths(call)[1]) + 6)

    def context(self, operands: Operands) -> CodedContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)
