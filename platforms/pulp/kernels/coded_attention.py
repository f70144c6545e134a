"""Attention over caches of codes over tiles in L1: lines, which are queries of a head, are shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.operators import ATTENTION_BLOCK, attention_units, coded_widths
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, prefer, whole
from tilewright.platforms.generic.kernels.coded_attention import CodedAttention, CodedContext
from tilewright.platforms.pulp.kernels.attention_loops import COLUMNS, HELD_WORDS, mixed, scores, shared
from tilewright.platforms.pulp.kernels.floats import bits_of
from tilewright.platforms.pulp.kernels.listing import Listing
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = CodedAttention()
ROWS_WHOLE = "all filled rows count for each result"


@dataclass(frozen=True)
class Chunk:
    """Sums that one loop makes: `times` chunks of so many `lanes`, bytes of a row of values, from byte `first` on."""

    first: int
    lanes: int
    times: int
    text: str


@dataclass(frozen=True)
class AttentionContext:
    """The portable kernel's numbers, floats by their bits, and the loops: `scores` is empty where a row of keys has too
    many words, `shares` where the only chunk makes them of scores itself.
    """

    size: CodedContext
    factor: str
    unit: str
    query: str
    share: str
    scores: str
    shares: str
    chunks: tuple[Chunk, ...]

    @property
    def key_words(self) -> int:
        """Words of a row of keys of one head, each byte a code or two."""
        return self.size.key_bytes // 4

    @property
    def words(self) -> int:
        """Words of codes of a row of keys."""
        return self.size.depth // 4

    @property
    def core_words(self) -> int:
        """Working memory of one core."""
        return core_bytes(self.size.depth) // 4


@PLATFORM.kernel(
    "CodedAttention", types="f32, i8|u8, f32, i8|u8, f32, i64 -> f32", template="coded_attention.c.mako",
    numerics="exact", preference=20,
    sources=["tiles.h", "xpulp.h", "dots.h", "largest.h", "../../generic/kernels/attention_powers.h",
    "../../generic/kernels/coded_attention.h",
             "attention_tile.h"],
)  # fmt: skip
class TiledCodedAttention(TiledKernelMethods):
    """The portable kernel's numbers; four bytes of keys are multiplied with the two bytes of queries at once.

    Factors of rows are common to all lines, so the cores share them first.
    """

    tile_type = "tilewright_attention_tile"
    phases = 3

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
        return 1200 + lines * 500 + sizes["j"] * (3 + lines * (0.9 * depth + 2.1 * width + 37))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """Two factors of every row, what cores tell each other, and of every core a block's scores and a query as words
        of high and of low bytes."""
        return 8 * call.shape(1)[2] + 4 * (2 * CORES + 2) + CORES * core_bytes(coded_widths(call)[0])

    def context(self, operands: Operands) -> AttentionContext:
        """That of the portable kernel, and the loops."""
        size, units = PORTABLE.context(operands), attention_units(operands.call)
        words, high = size.depth // 4, 4 * size.value_bytes if size.four else 0
        most = COLUMNS // 2 if size.four else COLUMNS
        alone = size.value_bytes <= most
        chunks = [
            Chunk(first, lanes, times, _text(mixed(lanes * (2 if size.four else 1), size.value_bytes, high,
                                                   size.total_shift if alone else None)))
            for first, lanes, times in ((0, most, size.value_bytes // most),
                                        (size.value_bytes // most * most, 4, size.value_bytes % most // 4))
            if times
        ]  # fmt: skip
        return AttentionContext(
            size, bits_of(units.factor), bits_of(units.unit), bits_of(units.query), bits_of(4 * units.share),
            _text(scores(words, size.four)) if words <= HELD_WORDS else "",
            "" if alone else _text(shared(size.total_shift)), tuple(chunks),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Lines, and those of one head."""
        return {"lines": view.size("h") * view.size("i"), "queries": view.size("i")}


def core_bytes(depth: int) -> int:
    """Working memory of one core, with the words of a query."""
    return 4 * ATTENTION_BLOCK + 2 * depth


def _text(listing: Listing) -> str:
    return listing.text("        ")
