"""Matrix products of one row taken back over tiles in L1: cores take channels, whose weights move as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.numerics import literal
from tilewright.operators import descent_terms
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels.descent import is_vector, replaces
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.pulp.kernels.conv_f32 import SOURCES
from tilewright.platforms.pulp.kernels.descent_f32 import EACH, FIRST, TYPES
from tilewright.platforms.pulp.kernels.plane_blocks import LANES
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

BLOCK_CYCLES, RESULT_CYCLES = 120, 40
"""Modelled cycles of four channels, and of each of their results; measured in GVSoC."""


@dataclass(frozen=True)
class VectorTerm:
    """One product, its operands and next weights by their names in C; `turned` weights of a channel lie together."""

    results: int
    turned: bool
    weights: str
    gradient: str
    target: str
    following: str


@dataclass(frozen=True)
class VectorContext:
    """Every number of a layer."""

    terms: tuple[VectorTerm, ...]
    back: bool
    add: bool
    masked: bool
    rate: str
    decay: str


@PLATFORM.kernel(
    "Descent", types=TYPES, template="descent_vector_f32.c.mako", layout=("default", "default"),
    sources=[*SOURCES, "vector_f32.h"], numerics="1e-4", preference=20,
)  # fmt: skip
class TiledDescentVector(TiledKernelMethods):
    """Matrix products of one row taken back."""

    tile_type = "{function}_tile"

    def accepts(self, call: Call) -> str | None:
        """Matrices and one row, nothing constant."""
        if not is_vector(call):
            return "the kernel takes back matrix products of one row"
        return "an operand is a constant" if call.constants else empty(call)

    def rules(self, call: Call) -> list[Rule]:
        """Results stay whole; four channels share what is loaded of them."""
        terms = descent_terms(call)
        rules = whole(
            *(f"o{number}" for number in range(len(terms))), why="what is taken back is a sum over all results"
        )
        return [*rules, multiple("c", LANES, why="four channels are taken at once")]

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The gradient takes the memory of the operand, next values that of targets."""
        return replaces(call)

    def cost(self, call: Call) -> float:
        """All channels."""
        return float(self.cycles(call, {"c": descent_terms(call)[0].channels}))

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The channels of the core that has most."""
        results = sum(term.results for term in descent_terms(call))
        blocks = -(-sizes["c"] // LANES)
        return np.ceil(250 + -(-blocks // CORES) * (BLOCK_CYCLES + results * RESULT_CYCLES)).astype(np.int64)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None."""
        return ()

    def context(self, operands: Operands) -> VectorContext:
        """The numbers of the layer."""
        call = operands.call
        names, results = operand_names(call), result_names(call)
        terms = []
        for number, term in enumerate(descent_terms(call)):
            place = FIRST + EACH * number
            held = place if call.optional(place + 2) is None else place + 2
            following = results[call.present.index(1 + number)]
            terms.append(VectorTerm(term.results, term.turned, names[place], names[place + 1], names[held], following))
        back = 0 in call.present
        return VectorContext(
            tuple(terms), back, call.optional(1) is not None, back and bool(call.integer("masked", 0)),
            literal(DType.F32, call.real("rate")), literal(DType.F32, call.real("decay", 1.0)),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Channels."""
        return {"channels": view.size("c")}
