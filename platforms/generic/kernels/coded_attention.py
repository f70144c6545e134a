"""Attention over caches of codes: one pass over them, in blocks of rows, and only as many rows as there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.numerics import AttentionForm, fixed_attention
from tilewright.operators import ATTENTION_BLOCK, attention_powers, attention_units, coded_widths
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class CodedContext:
    """Sizes, rows of a block, and the whole numbers that stand for 1 (AttentionUnits).

    `four`: codes of four bits, halves of a row in the low and in the high bits of its bytes. `fixed` where queries,
    largest elements and results are in fixed point.
    """

    heads: int
    queries: int
    rows: int
    depth: int
    value_depth: int
    block: int
    query: int
    share: int
    total_shift: int
    factor: str
    unit: str
    four: bool
    fixed: AttentionForm | None = None

    @property
    def lines(self) -> int:
        """Queries of all heads."""
        return self.heads * self.queries

    @property
    def key_bytes(self) -> int:
        """Bytes of a row of keys of one head."""
        return self.depth // 2 if self.four else self.depth

    @property
    def value_bytes(self) -> int:
        """Bytes of a row of values of one head."""
        return self.value_depth // 2 if self.four else self.value_depth


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8|u8, f32, i8|u8, f32, i64 -> f32", template="coded_attention.c.mako",
    numerics="exact", sources=["attention_powers.h", "coded_attention.h"],
)  # fmt: skip
class CodedAttention(KernelMethods):
    """Rows are read as they lie; a row's largest element multiplies its score and its share."""

    def accepts(self, call: Call) -> str | None:
        """Anything that has elements."""
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands, and powers of 2 in steps of 1/64 and of 1/2048."""
        powers = zip(("coarse", "fine"), attention_powers(), strict=True)
        tables = (Constant(name, DType.U16, table) for name, table in powers)
        return (*constants_by_name(operands, *range(len(operands.call.inputs))), *tables)

    def scratch(self, operands: Operands) -> int:
        """A block's factors and scores, three numbers of every line and its query."""
        size = self.context(operands)
        return 4 * (3 * size.block + 3 * size.lines) + 2 * size.lines * size.depth

    def cost(self, call: Call) -> float:
        """Two products for each score, and its power."""
        (_, heads, queries, depth), rows = call.shape(0), call.shape(1)[2]
        return heads * queries * rows * (5.0 * (depth + coded_widths(call)[1]) + 40)

    def context(self, operands: Operands) -> CodedContext:
        """Sizes and factors."""
        call = operands.call
        _, heads, queries, depth = call.shape(0)
        units = attention_units(call)
        return CodedContext(
            heads, queries, call.shape(1)[2], depth, coded_widths(call)[1], ATTENTION_BLOCK, units.query, units.share,
            units.total_shift, literal(DType.F32, float(units.factor)), literal(DType.F32, float(units.unit)),
            call.tensor(1).dtype is DType.U8,
        )  # fmt: skip


@PLATFORM.kernel(
    "CodedAttention", types="qi32, i8|u8, qi32, i8|u8, qi32, i64 -> qi32", template="coded_attention.c.mako",
    sources=["attention_powers.h", "fixed.h", "fixed_moved.h", "fixed_room.h", "fixed_reciprocal.h",
             "fixed_attention.h"],
)  # fmt: skip
class FixedCodedAttention(CodedAttention):
    """The same with queries, largest elements and results in fixed point."""

    def context(self, operands: Operands) -> CodedContext:
        """Sizes, factors, and the numbers of units."""
        return replace(super().context(operands), fixed=fixed_attention(operands.call))
