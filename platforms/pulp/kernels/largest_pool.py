"""MaxPool of codes, channels innermost: the largest of four or two codes at once, pixels shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.numerics import C_TYPES
from tilewright.operators import pool_window
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView, prefer, whole
from tilewright.platforms.generic.kernels.pool_i8 import TYPES, PoolI8
from tilewright.platforms.pulp.kernels.listing import Listing
from tilewright.platforms.pulp.kernels.windows import CORES, SOURCES, TILE, lines, taps, window_tile
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = PoolI8()
LARGER = {DType.I8: "pv.max.b", DType.U8: "pv.maxu.b", DType.I16: "pv.max.h", DType.U16: "pv.maxu.h"}
ENTRY_CYCLES, PIXEL_CYCLES, WORDS_CYCLES, ROW_CYCLES = 250, 90, 40, 6


@dataclass(frozen=True)
class LargestContext:
    """The window of one pool, and the loops over it for one word of codes and for two."""

    type: str
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    codes: int
    one: str
    two: str


def largest(larger: str, words: int) -> Listing:
    """The largest codes of a window from a0 on, of a word or of two side by side, in t0 and t1: a1 rows of a2 columns,
    a3 bytes from column to column, a4 from behind a row to the next one."""
    out = Listing()
    out(*(f"lw t{at}, {4 * at}(a0)" for at in range(words)))
    out.begin_loop("a1")
    out.begin_loop("a2")
    out(*["lw t5, 4(a0)"] * (words - 1), "p.lwr t4, a3, a0")
    out(f"{larger} t1, t1, t5" if words > 1 else "nop", f"{larger} t0, t0, t4")
    out.end_loop()
    out("nop", "p.addN a0, a0, a4, 0")  # an addition
    out.end_loop()
    return out


@PLATFORM.kernel(
    "MaxPool", types=TYPES, template="largest_pool.c.mako", layout="channels_last", sources=[*SOURCES, "xpulp.h"],
    preference=20,
)  # fmt: skip
class TiledLargestCodes(TiledKernelMethods):
    """MaxPool over tiles in L1, one or two spatial axes."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """One image; what the portable kernel takes."""
        if (why := PORTABLE.accepts(call)) is not None:
            return why
        return f"batch is {call.shape(0)[0]}, the kernel handles 1" if call.shape(0)[0] != 1 else None

    def rules(self, call: Call) -> list[Rule]:
        """Windows stay whole."""
        rules = whole("n", *taps(call), why="the largest stays in one register from the first tap to the last")
        return [*rules, *([prefer("oh", CORES, why="eight cores take a row each")] if "kh" in taps(call) else [])]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most pixels: four cycles a tap for two words of channels."""
        rows, columns = _sides(pool_window(call).kernel)
        pairs = -(-sizes["c"] * call.tensor(0).dtype.bits // 64)
        each = WORDS_CYCLES + rows * (ROW_CYCLES + 4 * columns)
        return ENTRY_CYCLES + -(-lines(sizes) * sizes["ow"] // CORES) * (PIXEL_CYCLES + pairs * each)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None."""
        return ()

    def context(self, operands: Operands) -> LargestContext:
        """The window; a signal is a picture of one row."""
        call = operands.call
        window, kind = pool_window(call), call.tensor(0).dtype
        one, two = (largest(LARGER[kind], words).text(" " * 8) for words in (1, 2))
        kernel, strides, dilations = (_sides(each) for each in (window.kernel, window.strides, window.dilations))
        return LargestContext(C_TYPES[kind], kernel, strides, dilations, 32 // kind.bits, one, two)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes of one tile, and the padding before it."""
        return window_tile(view, "c")


def _sides(numbers: tuple[int, ...]) -> tuple[int, int]:
    return (1, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
