"""Attention over caches of codes over tiles in L1: lines, which are queries of a head, are shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.operators import ATTENTION_BLOCK, coded_widths
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, prefer, whole
from tilewright.platforms.generic.kernels.coded_attention import CodedAttention, CodedContext
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = CodedAttention()
ROWS_WHOLE = "all filled rows count for each result"


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8|u8, f32, i8|u8, f32, i64 -> f32", template="coded_attention.c.mako",
    numerics="exact", preference=20,
    sources=["tiles.h", "xpulp.h", "dots.h", "largest.h", "attention_tile.h",
             "../../generic/kernels/coded_attention.h"],
)  # fmt: skip
class TiledCodedAttention(TiledKernelMethods):
    """The portable kernel's numbers; four bytes of keys are multiplied with the two bytes of queries at once."""

    tile_type = "tilewright_attention_tile"

    def accepts(self, call: Call) -> str | None:
        """Rows of whole words, of which the whole numbers of a query are no more than those of a block's scores."""
        if call.shape(1)[3] % 4 or call.shape(3)[3] % 4:  # of bytes
            return "keys or values are no multiple of four"
        if coded_widths(call)[0] > 2 * ATTENTION_BLOCK:
            return f"queries have more than {2 * ATTENTION_BLOCK} elements"
        return PORTABLE.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Heads and queries may be cut."""
        return [
            *whole("e", "j", "d", "p", "s", why=ROWS_WHOLE),
            prefer("h", CORES, why="eight cores take a line each"),
        ]

    def cost(self, call: Call) -> float:
        """As the portable kernel, shared among the cores."""
        return PORTABLE.cost(call) / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most lines, all rows filled."""
        depth, width = coded_widths(call)
        lines = -(-(sizes["h"] * sizes["i"]) // CORES)
        return 500 + sizes["j"] * (14 + lines * (1.3 * depth + 2.2 * width + 45))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """Of every core: a block's scores, and a query as words of high and of low bytes."""
        return CORES * core_bytes(coded_widths(call)[0])

    def context(self, operands: Operands) -> CodedContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Lines, and those of one head."""
        return {"lines": view.size("h") * view.size("i"), "queries": view.size("i")}


def core_bytes(depth: int) -> int:
    """Working memory of one core, with the whole numbers of a query."""
    return 4 * ATTENTION_BLOCK + -(-4 * depth // 8) * 8
