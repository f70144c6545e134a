"""Any function of one code as a table: a tile is a line of codes that the cores share, four at a time with Xpulp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.codes import BYTES, TABLES, TableCodes
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.pulp.kernels.listing import Listing
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = TableCodes()
FOUR = ("t0", "t1", "t2", "t3")


@dataclass(frozen=True)
class TableContext:
    """Names of operand and result, where in the table the code 0 is, and the loop over four codes a turn."""

    x: str
    y: str
    zero: int
    text: str


@PLATFORM.kernel(
    *TABLES, types=f"{BYTES}, *... -> {BYTES}", template="table_i8.c.mako", layout="same",
    sources=["tiles.h", "line_tile.h", "xpulp.h"], preference=6,
)  # fmt: skip
class TiledTableI8(TiledKernelMethods):
    """Any function of one code as a table of 256 results, over tiles in L1."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """As the portable kernel, of elements."""
        return PORTABLE.accepts(call) or (None if call.outputs[0].elements else "a tensor has no elements")

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Four instructions a code, two of which wait for others of the same bank."""
        points: Any = 1
        for name, size in sizes.items():
            if "." not in name:
                points = points * size
        return 250 + -(-points // CORES) * 5

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The table, from the lowest code on."""
        return PORTABLE.constants(operands)

    def context(self, operands: Operands) -> TableContext:
        """Names, and the loop."""
        call = operands.call
        x = call.tensor(0)
        names = operand_names(call)[0], result_names(call)[0]
        return TableContext(*names, -x.dtype.range[0], looked_up(x.dtype.is_signed).text(" " * 12))

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All codes as one row."""
        box = view.boxes[operand_names(call)[0]].box
        return {"rows": 1, "columns": prod(high - low for low, high in box)}


def looked_up(signed: bool) -> Listing:
    """a0 walks over codes, a2 over results, a1 is where the table has the code 0, a3 counts fours."""
    out = Listing()
    out.begin_loop("a3")
    out(*(f"p.{'lb' if signed else 'lbu'} {code}, 1, a0" for code in FOUR))
    out(*(f"add {code}, {code}, a1" for code in FOUR), *(f"lb {code}, 0({code})" for code in FOUR))
    out(*(f"p.sb {code}, 1, a2" for code in FOUR))
    out.end_loop()
    return out
