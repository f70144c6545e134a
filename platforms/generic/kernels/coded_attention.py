"""Attention over caches of codes: one row of scores at a time, and only as many rows as there are."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class CodedContext:
    """Sizes, the factor of queries and that of values."""

    heads: int
    queries: int
    rows: int
    depth: int
    value_depth: int
    factor: str
    v_unit: str


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8, f32, i8, f32, i64 -> f32", template="coded_attention.c.mako", numerics="1e-4"
)
class CodedAttention(KernelMethods):
    """Rows are read as they lie; a row's largest element multiplies its score and its share."""

    def accepts(self, call: Call) -> str | None:
        """Anything that has elements."""
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def scratch(self, operands: Operands) -> int:
        """One row of scores and one query."""
        call = operands.call
        return 4 * (call.shape(1)[2] + call.shape(0)[3])

    def cost(self, call: Call) -> float:
        """Two products for each score, and its power of e."""
        (_, heads, queries, depth), rows = call.shape(0), call.shape(1)[2]
        return heads * queries * rows * (5.0 * (depth + call.shape(3)[3]) + 70)

    def context(self, operands: Operands) -> CodedContext:
        """Sizes and factors."""
        call = operands.call
        _, heads, queries, depth = call.shape(0)
        return CodedContext(
            heads, queries, call.shape(1)[2], depth, call.shape(3)[3],
            literal(DType.F32, call.real("scale") * call.real("k_unit")), literal(DType.F32, call.real("v_unit")),
        )  # fmt: skip
