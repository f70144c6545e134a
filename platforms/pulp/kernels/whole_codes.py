"""DynamicQuantizeLinear without float units, all of a tensor in L1: the cores share its elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.platform import Call, Needs, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.whole_codes import SOURCES, WholeCodes
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = WholeCodes()
STEP_CYCLES, ELEMENT_CYCLES, RANGE_BYTES = 2500, 45, 8


@PLATFORM.kernel(
    "DynamicQuantizeLinear", types="f32 -> u8, f32, u8", template="whole_codes.c.mako", layout="default",
    sources=["tiles.h", "line_tile.h", *(f"{GENERIC}{name}" for name in SOURCES)], numerics="exact", preference=30,
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledWholeCodes(TiledKernelMethods):
    """The range of each core's elements, then their codes; a tensor that L1 does not hold is left to the ninth core."""

    tile_type = "tilewright_line_tile"
    phases = 2
    gives_way = True

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return PORTABLE.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Nothing can be cut: the range is that of all elements."""
        return []

    def cost(self, call: Call) -> float:
        """See `cycles`."""
        return float(self.cycles(call, {}))

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most elements."""
        return STEP_CYCLES + -(-call.tensor(0).elements // CORES) * ELEMENT_CYCLES

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """A range of every core."""
        return RANGE_BYTES * CORES

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All elements as one row."""
        return {"rows": 1, "columns": call.tensor(0).elements}

    def context(self, operands: Operands) -> None:
        """None: the tile says how many elements there are."""
