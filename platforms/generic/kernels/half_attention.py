"""Attention over caches in float16: elements become floats as they are read, and only as many rows as there are."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.operators import AttentionHeads, attention_heads, attention_scale
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class HalfContext:
    """Sizes, the query heads that share keys, and the factor of scores."""

    size: AttentionHeads
    group: int
    scale: str


@PLATFORM.kernel(
    "HalfAttention", types="f32, f16, f16, i64 -> f32", template="half_attention.c.mako", numerics="1e-4"
)  # fmt: skip
class HalfAttention(KernelMethods):
    """One row of scores at a time."""

    def accepts(self, call: Call) -> str | None:
        """Anything that has elements."""
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def scratch(self, operands: Operands) -> int:
        """One row of scores."""
        return attention_heads(operands.call).keys * DType.F32.bits // 8

    def cost(self, call: Call) -> float:
        """Two products and two conversions for each score, and its power of e."""
        size = attention_heads(call)
        return size.batch * size.query_heads * size.queries * size.keys * (4.0 * (size.depth + size.value_depth) + 70)

    def context(self, operands: Operands) -> HalfContext:
        """Sizes."""
        size = attention_heads(operands.call)
        factor = literal(DType.F32, attention_scale(operands.call, size.depth))
        return HalfContext(size, size.query_heads // size.key_heads, factor)
