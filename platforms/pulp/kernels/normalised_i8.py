"""Layer and RMS normalisation on codes over tiles in L1: rows are shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from tilewright.numerics import normalised_form
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, prefer
from tilewright.platforms.generic.kernels.normalised_i8 import CODES, NormalisedContext, NormalisedI8
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = NormalisedI8()
GENERIC = "../../generic/kernels"
NUMBERS = ("fixed", "fixed_moved", "fixed_room", "fixed_reciprocal", "fixed_root")
ENTRY_CYCLES, ROW_CYCLES, ELEMENT_CYCLES = 250, 1100, 55


@PLATFORM.kernel(
    "LayerNormalization", "RMSNormalization", types=f"{CODES}, f32, f32? -> {CODES}", preference=30,
    template=f"{GENERIC}/normalised_i8.c.mako",
    sources=["tiles.h", "line_tile.h", *(f"{GENERIC}/{part}.h" for part in NUMBERS)],
)  # fmt: skip
class TiledNormalisedI8(TiledKernelMethods):
    """The portable kernel's integers, every row by one core."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """Codes alone."""
        return PORTABLE.accepts(call) or (None if len(call.outputs) == 1 else "its statistics are results")

    def rules(self, call: Call) -> list[Rule]:
        """Eight rows give every core one."""
        shape = call.shape(0)
        longest = max(range(len(shape) - 1), key=lambda axis: shape[axis], default=None)
        if longest is None or shape[longest] == 1:
            return []
        return [prefer(f"i{longest}", CORES, why="eight cores take a row each")]

    def cost(self, call: Call) -> float:
        """As the portable kernel, shared among the cores."""
        return PORTABLE.cost(call) / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """A root for each row, two passes over its elements."""
        elements: Any = 1
        for axis in range(len(call.shape(0))):
            elements = elements * sizes[f"i{axis}"]
        length = normalised_form(call).rows.length
        return ENTRY_CYCLES + -(-elements // (length * CORES)) * (ROW_CYCLES + length * ELEMENT_CYCLES)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def context(self, operands: Operands) -> NormalisedContext:
        """That of the portable kernel, from a core's first row on."""
        first, end = (f"tilewright_share(tile->rows, core{more}, cores)" for more in ("", " + 1"))
        return replace(PORTABLE.context(operands), first=first, end=end)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows."""
        elements, length = prod(high - low for low, high in view.boxes["x"].box), normalised_form(call).rows.length
        return {"rows": elements // length, "columns": length}
