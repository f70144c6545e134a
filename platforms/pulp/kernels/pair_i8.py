"""Add, Sub and Mul of codes: a tile is a line of elements that the cores share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.tiled import TileView
from tilewright.ops.quantised_add import OPERATORS_WITH_FORM
from tilewright.platform import Call, Constant, Operands, Rule
from tilewright.platforms.generic.kernels.codes import pair_of
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM


@dataclass(frozen=True)
class PairContext:
    """An integer expression of the codes e0 and e1, computed in `word`."""

    word: str
    y_type: str
    form: str
    low: int
    high: int


@PLATFORM.kernel(
    *OPERATORS_WITH_FORM, types="qi8|qu8, qi8|qu8 -> qi8|qu8", template="pair_i8.c.mako", layout="same",
    sources=["tiles.h", "line_tile.h"], preference=10,
)  # fmt: skip
class TiledPairI8:
    """Add, Sub and Mul of codes over tiles in L1."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """Two tensors of one shape at run time, with an integer form."""
        if call.constants or call.shape(0) != call.shape(1):
            return "an operand is constant or broadcast, the kernel handles two of one shape"
        return None if pair_of(call) else "no integer form equals the float32 arithmetic on every pair of codes"

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Fifteen cycles an element."""
        points: Any = 1
        for name, size in sizes.items():
            if "." not in name:
                points = points * size
        return 300 + -(-points // CORES) * 15

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: the form holds literals."""
        return ()

    def context(self, operands: Operands) -> PairContext:
        """The form as an expression of both codes."""
        form = pair_of(operands.call)
        assert form is not None
        if form.product:
            a, b = form.zero_points
            text = f"((e0 - {a}) * (e1 - {b}) * {form.left} + {form.addend}) >> {form.shift}"
        else:
            text = f"(e0 * {form.left} + e1 * {form.right} + {form.addend}) >> {form.shift}"
        word = "int64_t" if form.bits == 64 else "int32_t"
        y_type = C_TYPES[operands.call.outputs[0].dtype]
        return PairContext(word, y_type, text.replace("- -", "+ "), form.low, form.high)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All elements as one row."""
        (box,) = {found.box for found in view.boxes.values()}
        return {"rows": 1, "columns": prod(high - low for low, high in box)}
