"""LayerNormalization and RMSNormalization of floats over tiles in L1: rows, or elements of few rows, are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.numerics import literal
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM


@dataclass(frozen=True)
class NormContext:
    """Elements of a row, what is added to the mean of squares, and whether rows lose their mean and get a bias."""

    width: int
    epsilon: str
    centred: bool
    bias: bool


@PLATFORM.kernel(
    "LayerNormalization", "RMSNormalization", types="f32, f32, f32? -> f32", template="norm_f32.c.mako",
    numerics="1e-5", preference=20, sources=["tiles.h", "line_tile.h", "../../generic/kernels/each_rounded.h"],
)  # fmt: skip
class TiledNormF32(TiledKernelMethods):
    """Every core sums the rows whose elements it computes."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """The last axis, constant parameters, no other result."""
        shape = call.shape(0)
        if call.integer("axis", -1) not in (-1, len(shape) - 1) or len(call.outputs) != 1:
            return "more than the last axis is normalised, or its statistics are results"
        parameters = [index for index in (1, 2) if call.optional(index) is not None]
        if any(index not in call.constants or call.constants[index].size != shape[-1] for index in parameters):
            return "its parameters are no constants of one row"
        return None if prod(shape) else "it has no elements"

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cost(self, call: Call) -> float:
        """Two or three passes over the elements."""
        return 20.0 * call.tensor(0).elements / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Sums by every core, elements by one."""
        elements: Any = 1
        for axis in range(len(call.shape(0))):
            elements = elements * sizes[f"i{axis}"]
        return 250 + elements * (4 + 10 / CORES)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Scale and bias."""
        return constants_by_name(operands, 1, 2)

    def context(self, operands: Operands) -> NormContext:
        """Sizes and parameters."""
        call = operands.call
        epsilon = literal(DType.F32, call.real("epsilon", 1e-5))
        return NormContext(
            call.shape(0)[-1], epsilon, call.node.op == "LayerNormalization", call.optional(2) is not None
        )

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows."""
        sizes = [high - low for low, high in view.boxes["x"].box]
        return {"rows": prod(sizes[:-1]), "columns": sizes[-1]}
