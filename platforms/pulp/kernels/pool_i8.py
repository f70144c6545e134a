"""Average pools on codes whose windows are all full: one exact sum and one requantisation per result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    code_limits,
    mean_proof,
    requantise,
    the_quantisation,
    too_wide,
    window_counts,
)
from tilewright.operators import pool_window
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.pulp.kernels.listing import Listing
from tilewright.platforms.pulp.kernels.windows import (
    CORES,
    SOURCES,
    TILE,
    two_axes,
    window_rules,
    window_tile,
)
from tilewright.platforms.pulp.platform import PLATFORM

FOUR = 4
TOTALS = ("t0", "t1", "t2", "t3")
LANES = ("a5", "a6", "a7", "t5")


@dataclass(frozen=True)
class PoolContext:
    """The numbers of one pool that all its tiles share; `form` makes a code of the sum `acc`, `asm` the sums of four
    channels."""

    y_type: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    zero_point: int
    form: str
    low: int
    high: int
    asm: str


def _sums(unsigned: bool) -> Listing:
    """The codes of a window added to four sums: a word of four codes times four bytes of which one is 1."""
    out, product = Listing(), "pv.sdotusp.b" if unsigned else "pv.sdotsp.b"
    out(*(f"lw {register}, {4 * at}+%[k]" for at, register in enumerate(("a0", "a1", "a2", "a3", "a4"))))
    out(*(f"lw {total}, {4 * at}(%[sums])" for at, total in enumerate(TOTALS)))
    out(*(f"li {lane}, {1 << 8 * at}" for at, lane in enumerate(LANES)))
    out.begin_loop("a1")
    out.begin_loop("a2")
    out("p.lwr t4, a3, a0", *(f"{product} {total}, t4, {lane}" for total, lane in zip(TOTALS, LANES, strict=True)))
    out.end_loop()
    out("nop", "p.addN a0, a0, a4, 0")  # an addition
    out.end_loop()
    out(*(f"sw {total}, {4 * at}(%[sums])" for at, total in enumerate(TOTALS)))
    return out


@PLATFORM.kernel(
    "AveragePool", "GlobalAveragePool", types="qi8|qu8 -> qi8|qu8", template="pool_i8.c.mako", layout="channels_last",
    sources=[*SOURCES, "xpulp.h", *ROUNDING], preference=20,
)  # fmt: skip
class TiledPoolI8(TiledKernelMethods):
    """Average pool over tiles in L1."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """Two spatial axes and windows that are all full."""
        if (why := two_axes(call)) is not None:
            return why
        window = pool_window(call)
        counts = window_counts(call).tolist()
        if any((*window.begins, *window.ends)) or len(counts) != 1:
            return "the pool is padded, the kernel takes full windows"
        return too_wide(mean_proof(call, int(counts[0])))

    def rules(self, call: Call) -> list[Rule]:
        """Windows stay whole."""
        return window_rules("n", "kh", "kw")

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Six cycles a tap for four channels, else between seven and eight for one, on the core that has most."""
        taps = sizes["kh"] * sizes["kw"]
        fours = -(-sizes["c"] // FOUR // CORES) * (200 + taps * 6)
        ones = -(-sizes["c"] // CORES) * (30 + taps * 38 // 5)
        return 250 + sizes["oh"] * sizes["ow"] * np.where(sizes["c"] % FOUR, ones, fours)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: the requantisation is in the code."""
        return ()

    def context(self, operands: Operands) -> PoolContext:
        """The window and the mean."""
        call = operands.call
        window, y = pool_window(call), call.outputs[0]
        form = requantise(mean_proof(call, int(window_counts(call)[0])))
        return PoolContext(
            C_TYPES[y.dtype], window.kernel, window.strides, window.dilations,
            the_quantisation(call.tensor(0)).zero_point[0], form.code("acc"), *code_limits(call, y),
            _sums(call.tensor(0).dtype is DType.U8).text("        "),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes of one tile."""
        return window_tile(view, "c")
