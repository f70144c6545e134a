"""Attention over caches in float: one row of scores at a time, and only as many keys as there are."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.operators import AttentionHeads, attention_heads, attention_scale
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.attention import mask_steps
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

_PLAIN = ("is_causal", "softcap", "qk_matmul_output_mode", "softmax_precision")


@dataclass(frozen=True)
class CachedContext:
    """Sizes, the factor of scores, and the mask's element strides (0 where it is broadcast)."""

    size: AttentionHeads
    group: int
    root: str
    mask: bool
    mask_steps: tuple[int, int, int]
    lengths: bool


@PLATFORM.kernel(
    "Attention", template="attention_f32.c.mako", numerics="1e-4", preference=-15,
    types="f32, f32, f32, f32?, f32?, f32?, i64? -> f32",
)  # fmt: skip
class CachedAttention(KernelMethods):
    """One row of scores at a time; where lengths are given, keys behind them are not read."""

    def accepts(self, call: Call) -> str | None:
        """Heads as an axis, no past beside the keys, a mask at most."""
        if call.node.clamp is not None or attention_heads(call).packed:
            return "the result is limited, or heads lie inside the last axis"
        windows = min(call.integer("left_window_size", -1), call.integer("right_window_size", -1)) < 0
        if any(call.node.attributes.get(word) for word in _PLAIN) or not windows or call.optional(4) is not None:
            return "the kernel computes neither windows, causality, limits of scores nor a past"
        if max(call.integer("left_window_size", -1), call.integer("right_window_size", -1)) >= 0:
            return "the kernel computes no windows"
        mask = call.optional(3)
        if mask is not None and mask.shape[-1] != attention_heads(call).keys:
            return "the mask is shorter than the keys"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def scratch(self, operands: Operands) -> int:
        """One row of scores."""
        return attention_heads(operands.call).keys * DType.F32.bits // 8

    def cost(self, call: Call) -> float:
        """Two products for each score, and its power of e."""
        size = attention_heads(call)
        return size.batch * size.query_heads * size.queries * size.keys * (2.5 * (size.depth + size.value_depth) + 70)

    def context(self, operands: Operands) -> CachedContext:
        """Sizes and strides."""
        call = operands.call
        size = attention_heads(call)
        return CachedContext(
            size, size.query_heads // size.key_heads, literal(DType.F32, attention_scale(call, size.depth)),
            call.optional(3) is not None, mask_steps(call), call.optional(6) is not None,
        )  # fmt: skip
