"""Integer MatMul of two operands whose sums are short, as in the scores of small heads: columns stay in registers.

What a result costs beside its few products counts most here: words of a row are loaded once for four results, and
these become codes by two short products in place of a long one where they are proved to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    MultiplyHigh,
    Requantiser,
    SplitMultiply,
    proof,
    requantise,
    split_multiply,
    the_quantisation,
)
from tilewright.platform import Call, DType, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.product_i8 import TYPES
from tilewright.platforms.pulp.kernels.block_asm import clip_of
from tilewright.platforms.pulp.kernels.product_asm import WIDTH, packing, row_sums
from tilewright.platforms.pulp.kernels.product_i8 import TiledProductI8, matrices_of, right_zero
from tilewright.platforms.pulp.kernels.short_product_asm import ADDEND, BESIDE, DEEPEST, STEP, short_listing
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

LONGER = TiledProductI8()
ENTRY_CYCLES, GROUP_CYCLES, PACK_CYCLES, LINE_CYCLES = 900, 180, 24, 6


@dataclass(frozen=True)
class ShortProductContext:
    """What the template prints; `beside` bytes lie behind the packed columns, the addend and the step among them."""

    a_type: str
    y_type: str
    depth: int
    a_zero: int
    b_zero: int
    flips: str
    packing: str
    text: str
    row_sums: str
    beside: int
    addend: int
    addend_at: int
    step_at: int
    requantise: Requantiser


@PLATFORM.kernel(
    "MatMul", types=TYPES, template="short_product_i8.c.mako",
    sources=["tiles.h", "xpulp.h", "dots.h", "product_tile.h", "short_product.h", *ROUNDING], preference=31,
)  # fmt: skip
class ShortProductI8(TiledKernelMethods):
    """Integer matrix product of two operands over tiles in L1, of sums of up to sixteen products."""

    tile_type = "tilewright_product_tile"

    def accepts(self, call: Call) -> str | None:
        """Matrices whose depth is one to four words, and codes that an instruction limits."""
        if (why := LONGER.accepts(call)) is not None:
            return why
        if call.shape(0)[-1] > DEEPEST:
            return f"sums have {call.shape(0)[-1]} products, the kernel holds {DEEPEST} in registers"
        form = form_of(call)
        if form is None:
            return "its requantisation has no form of 32 bits"
        return None if clip_of(form) else f"its codes from {form.low} to {form.high} are limited by two instructions"

    def rules(self, call: Call) -> list[Rule]:
        """Those of longer sums."""
        return LONGER.rules(call)

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most rows of four results; the columns that it packs, and sums of rows."""
        matrices, rows = matrices_of(call, sizes)
        words, groups = call.shape(0)[-1] // WIDTH, -(-sizes["n"] // WIDTH)
        items = -(-matrices * rows * groups // CORES)
        packs = -(-items // rows) + 1
        lines = rows * (LINE_CYCLES + 3 * words) if right_zero(call) else 0
        return ENTRY_CYCLES + items * _row_cycles(call) + packs * (GROUP_CYCLES + words * PACK_CYCLES) + lines

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Packed columns and what lies behind them, and the starts of rows where there are some, for every core."""
        _, rows = matrices_of(call, sizes)
        return CORES * (WIDTH * call.shape(0)[-1] + BESIDE + 4 * rows * (right_zero(call) != 0))

    def context(self, operands: Operands) -> ShortProductContext:
        """Types, zero points and the statement of the rows."""
        call = operands.call
        a, b, depth, form = call.tensor(0), call.tensor(1), call.shape(0)[-1], form_of(call)
        assert form is not None, "asked of a layer that was refused"
        unsigned, a_zero, b_zero = a.dtype is DType.U8, the_quantisation(a).zero_point[0], right_zero(call)
        return ShortProductContext(
            a_type=C_TYPES[a.dtype],
            y_type=C_TYPES[call.outputs[0].dtype],
            depth=depth,
            a_zero=a_zero,
            b_zero=b_zero,
            flips=" ^ 0x80808080u" if b.dtype is DType.U8 else "",
            packing=packing(depth, b.dtype is DType.U8, a_zero != 0).text(" " * 12),
            text=short_listing(depth, unsigned, a_zero != 0, b_zero != 0, form).text(" " * 20),
            row_sums=row_sums(depth, unsigned, -b_zero).text(" " * 16),
            beside=BESIDE,
            addend=form.addend.values[0],
            addend_at=ADDEND // 4,
            step_at=STEP // 4,
            requantise=form,
        )

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """That of longer sums."""
        return LONGER.tile(call, view)


def form_of(call: Call) -> MultiplyHigh | SplitMultiply | None:
    """The cheapest form of 32 bits that was proved, if any."""
    shown = proof(call)
    form = split_multiply(shown) or requantise(shown)
    return form if isinstance(form, MultiplyHigh | SplitMultiply) else None


def _row_cycles(call: Call) -> int:
    """Of four results: products, starts, their codes."""
    words, starts, lines = call.shape(0)[-1] // WIDTH, the_quantisation(call.tensor(0)).zero_point[0], right_zero(call)
    begun = 4 * (bool(starts) + bool(lines)) + bool(lines)
    return 5 * words + begun + (24 if isinstance(form_of(call), SplitMultiply) else 28) + 6
