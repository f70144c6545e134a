"""LayerNormalization and RMSNormalization of floats over tiles in L1: rows, or elements of few rows, are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.pulp.kernels.floats import bits_of
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM


@dataclass(frozen=True)
class NormContext:
    """Elements of a row, C behind a sum that makes it a mean, the bits of what is added to the mean of squares, and
    whether rows lose their mean and get a bias; whether there are fewer of them than cores.
    """

    width: int
    over_width: str
    epsilon: str
    centred: bool
    bias: bool
    few: bool

    def when(self, phase: int, also: str = "") -> str:
        """The condition in C of a step: all of them are those of the last phase where a core has rows of its own."""
        if not self.few:
            return f"phase == {3 if self.centred else 2}"
        return f"phase == {phase} && {also}" if also else f"phase == {phase}"

    def square(self, element: str) -> str:
        """An element's part of the mean of squares, in C."""
        return f"({element} - mean) * ({element} - mean)" if self.centred else f"{element} * {element}"


class _Rows(TiledKernelMethods):
    """What both norms say of themselves; phases are eight sums, eight more of a row that loses its mean, a factor, and
    elements.
    """

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
        """Of the core that has most: each element is summed, once or twice, and made."""
        rows: Any = 1
        for axis in range(len(call.shape(0)) - 1):
            rows = rows * sizes[f"i{axis}"]
        width, each = call.shape(0)[-1], 24 if call.node.op == "LayerNormalization" else 16
        few = rows * (120 + each * -(-width // CORES))
        return 200 + np.where(rows < CORES, few, -(-rows // CORES) * (250 + each * width))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> int:
        """Sums, a mean and a factor for each of so many rows as there are cores."""
        return 4 * 18 * CORES

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Scale and bias."""
        return constants_by_name(operands, 1, 2)

    def context(self, operands: Operands) -> NormContext:
        """Sizes and parameters."""
        call = operands.call
        width = call.shape(0)[-1]
        over = f"* tilewright_float({bits_of(1 / width)})"  # as exact as the division where it is a power of two
        if width & (width - 1):
            over = f"/ tilewright_float({bits_of(width)})"
        epsilon = bits_of(np.float32(call.real("epsilon", 1e-5)))
        centred, few = call.node.op == "LayerNormalization", prod(call.shape(0)[:-1]) < CORES
        return NormContext(width, over, epsilon, centred, call.optional(2) is not None, few)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows."""
        sizes = [high - low for low, high in view.boxes["x"].box]
        return {"rows": prod(sizes[:-1]), "columns": sizes[-1]}


SOURCES = ["tiles.h", "line_tile.h", "xpulp.h", "dots.h", "../../generic/kernels/each_rounded.h"]


@PLATFORM.kernel(
    "RMSNormalization", types="f32, f32 -> f32", template="norm_f32.c.mako", numerics="1e-5", preference=20,
    sources=SOURCES,
)  # fmt: skip
class TiledRootF32(_Rows):
    """Root mean square norms."""

    phases = 3


@PLATFORM.kernel(
    "LayerNormalization", types="f32, f32, f32? -> f32", template="norm_f32.c.mako", numerics="1e-5", preference=20,
    sources=SOURCES,
)  # fmt: skip
class TiledNormF32(_Rows):
    """Norms around the mean."""

    phases = 4
