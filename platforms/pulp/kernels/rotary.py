"""RotaryEmbedding over tiles in L1: heads of all steps, their pairs shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, whole
from tilewright.platforms.generic.kernels.attention import RotaryAtPositions, RotaryContext
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = RotaryAtPositions()


@PLATFORM.kernel(
    "RotaryEmbedding", types="f32, f32, f32 -> f32", template="rotary.c.mako", numerics="1e-5", preference=20,
    sources=["tiles.h", "line_tile.h", "../../generic/kernels/each_rounded.h"],
)  # fmt: skip
class TiledRotary(TiledKernelMethods):
    """Pairs of whole heads, turned by angles that come at run time."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """One batch of heads that turn whole, interleaved."""
        shape = call.shape()
        if len(shape) != 4 or shape[0] != 1 or not call.integer("interleaved", 0):
            return "its heads are no axis, there are several batches, or halves of heads turn"
        if call.integer("rotary_embedding_dim", 0) not in (0, shape[3]) or call.constants:
            return "its heads do not turn whole, or an operand is constant"
        return PORTABLE.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Heads stay whole."""
        return whole("d", "e", why="an element needs its neighbour and both of a pair's angles")

    def cost(self, call: Call) -> float:
        """Some instructions an element."""
        return 10.0 * call.tensor(0).elements / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Thirty for a pair."""
        return 150 + -(-(sizes["h"] * sizes["t"] * sizes["d"]) // (2 * CORES)) * 30

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None."""
        return ()

    def context(self, operands: Operands) -> RotaryContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Heads of all steps, and steps."""
        return {"rows": view.size("h") * view.size("t"), "columns": view.size("t")}
