"""DequantizeLinear of codes of eight bits over tiles in L1: the table of floats lies there too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.dequantise_table import TableContext, reals, refusal, table_context
from tilewright.platforms.pulp.kernels.quantise_steps import elements_cycles, one_row
from tilewright.platforms.pulp.platform import PLATFORM

ELEMENT_CYCLES = 7


@PLATFORM.kernel(
    "DequantizeLinear", types="qi8|qu8, *... -> f32", template="dequantise_table.c.mako", layout=("axes", "same"),
    sources=["tiles.h", "line_tile.h"], preference=40,
)  # fmt: skip
class TiledDequantiseTable(TiledKernelMethods):
    """Floats of codes over tiles in L1, by a table."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """One scale, codes of eight bits, enough of them."""
        return refusal(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """One look-up an element."""
        return elements_cycles(sizes, ELEMENT_CYCLES)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The table, which every tile needs whole."""
        return (reals(operands.call),)

    def context(self, operands: Operands) -> TableContext:
        """Elements and the place in the table."""
        return table_context(operands.call)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All elements as one row."""
        return one_row(view)
