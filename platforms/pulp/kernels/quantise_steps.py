"""QuantizeLinear of floats over tiles in L1, by comparing integers; the cluster is used without float units."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from tilewright.numerics import C_TYPES, code_limits
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.quantise_steps import StepsContext, refusal, steps
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

ENTRY_CYCLES, ELEMENT_CYCLES = 250, 65


def elements_cycles(sizes: Mapping[str, Any], each: int) -> Any:
    """Cycles of a tile of so many elements along every loop, `each` of which takes so long, shared among the cores."""
    points: Any = 1
    for name, size in sizes.items():
        if "." not in name:
            points = points * size
    return ENTRY_CYCLES + -(-points // CORES) * each


def one_row(view: TileView) -> Mapping[str, int]:
    """All elements of a tile as one row."""
    return {"rows": 1, "columns": prod(high - low for low, high in view.boxes["x"].box)}


@PLATFORM.kernel(
    "QuantizeLinear", types="f32, *... -> qi8|qu8", template="quantise_steps.c.mako", layout=("axes", "same"),
    sources=["tiles.h", "line_tile.h", "../../generic/kernels/steps.h"], preference=40,
)  # fmt: skip
class TiledQuantiseSteps(TiledKernelMethods):
    """Codes of floats over tiles in L1: how many of at most 255 steps lie at or below the element."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """One scale, codes of eight bits."""
        return refusal(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Eight comparisons an element."""
        return elements_cycles(sizes, ELEMENT_CYCLES)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The steps, which every tile needs whole."""
        return (steps(operands.call),)

    def context(self, operands: Operands) -> StepsContext:
        """Elements and the lowest code."""
        y = operands.call.outputs[0]
        return StepsContext(y.elements, C_TYPES[y.dtype], code_limits(operands.call, y)[0])

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All elements as one row."""
        return one_row(view)
