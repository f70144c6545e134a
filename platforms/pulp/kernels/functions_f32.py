"""Sigmoid, Tanh, Erf and their kin of floats over tiles in L1: the portable kernels' loops, elements shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from tilewright.platform import Call, Needs, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.functions_f32 import FunctionContext, FunctionsF32
from tilewright.platforms.generic.kernels.functions_whole import (
    OPERATORS,
    SOURCES,
    FunctionsWhole,
    WholeFunctionContext,
)
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

FIRST, END = (f"tilewright_share(tile->columns, core{more}, cores)" for more in ("", " + 1"))
ENTRY_CYCLES = 250
GENERIC = "../../generic/kernels"


class _Elements(TiledKernelMethods):
    """A portable kernel that goes element by element, by what it says of itself."""

    tile_type = "tilewright_line_tile"

    def __init__(self, whole: FunctionsF32 | FunctionsWhole) -> None:
        self.whole = whole

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return self.whole.accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cost(self, call: Call) -> float:
        """As the portable kernel, shared among the cores."""
        return (self.whole.cost(call) or 0.0) / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most elements, about as many as instructions."""
        points: Any = 1
        for name, size in sizes.items():
            if "." not in name:
                points = points * size
        each = (self.whole.cost(call) or 0.0) / call.outputs[0].elements
        return ENTRY_CYCLES + -(-points // CORES) * each * 1.2

    def context(self, operands: Operands) -> FunctionContext | WholeFunctionContext:
        """That of the portable kernel, from a core's first element on."""
        return replace(self.whole.context(operands), first=FIRST, end=END)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All elements as one row."""
        return {"rows": 1, "columns": prod(high - low for low, high in view.boxes["x"].box)}


@PLATFORM.kernel(
    "Sigmoid", "Swish", "Tanh", "Erf", "Gelu", "Elu", "Selu", types="f32 -> f32", layout=("axes", "same"),
    template=f"{GENERIC}/functions_f32.c.mako", numerics="1e-6", preference=20, requires=Needs(has=("fpu",)),
    sources=["tiles.h", "line_tile.h", f"{GENERIC}/vectorised.h", f"{GENERIC}/functions.h"],
)  # fmt: skip
class TiledFunctionsF32(_Elements):
    """One exponential by a polynomial of degree six."""

    def __init__(self) -> None:
        super().__init__(FunctionsF32())


@PLATFORM.kernel(
    *OPERATORS, types="f32 -> f32", layout=("axes", "same"), template=f"{GENERIC}/functions_whole.c.mako",
    numerics="1e-6", preference=20, requires=Needs(lacks=("fpu",)),
    sources=["tiles.h", "line_tile.h", *(f"{GENERIC}/{source}" for source in SOURCES)],
)  # fmt: skip
class TiledFunctionsWhole(_Elements):
    """Polynomials for powers of 2 and for logarithms, one reciprocal, in whole numbers."""

    def __init__(self) -> None:
        super().__init__(FunctionsWhole())
