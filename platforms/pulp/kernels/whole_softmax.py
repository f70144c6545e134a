"""Softmax of floats without float units over tiles in L1: the portable kernel's lines, shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from tilewright.numerics import softmax_axis
from tilewright.platform import Call, Needs, Operands, Rule, TiledKernelMethods, TileView, prefer
from tilewright.platforms.generic.kernels.whole_softmax import SOURCES, WholeSoftmax, WholeSoftmaxContext
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = WholeSoftmax()
FIRST, END = (f"tilewright_share(tile->rows, core{more}, cores)" for more in ("", " + 1"))
LINE_CYCLES, ELEMENT_CYCLES = 230, 105


@PLATFORM.kernel(
    "Softmax", types="f32 -> f32", template=f"{GENERIC}whole_softmax.c.mako", numerics="1e-6", preference=30,
    sources=["tiles.h", "line_tile.h", *(f"{GENERIC}{name}" for name in SOURCES)], requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledWholeSoftmax(TiledKernelMethods):
    """Lines as whole numbers of one exponent; a line that L1 does not hold is left to the ninth core."""

    tile_type = "tilewright_line_tile"
    gives_way = True

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, along the last axis or one before axes of one element."""
        if any(size != 1 for size in call.shape(0)[softmax_axis(call) + 1 :]):
            return "more than the last axis stands behind what is summed"
        return PORTABLE.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do; eight lines give every core one."""
        axis, shape = softmax_axis(call), call.shape(0)
        others = [place for place in range(len(shape)) if place != axis and shape[place] > 1]
        longest = max(others, key=lambda place: shape[place], default=None)
        return [] if longest is None else [prefer(f"i{longest}", CORES, why="eight cores take a line each")]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most lines."""
        axis, lines = softmax_axis(call), 1
        for place in range(len(call.shape(0))):
            if place != axis:
                lines = lines * sizes[f"i{place}"]
        return 250 + -(-lines // CORES) * (LINE_CYCLES + call.shape(0)[axis] * ELEMENT_CYCLES)

    def context(self, operands: Operands) -> WholeSoftmaxContext:
        """That of the portable kernel, for a core's lines."""
        return replace(PORTABLE.context(operands), first=FIRST, end=END)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Lines, and elements of each."""
        axis = softmax_axis(call)
        sizes = [high - low for low, high in view.boxes["x"].box]
        return {"rows": prod(sizes) // sizes[axis], "columns": sizes[axis]}
