"""Softmax on codes over tiles: the axis that is summed stays whole, the lines are shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from tilewright.numerics import softmax_axis
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, prefer
from tilewright.platforms.generic.kernels.softmax_i8 import SoftmaxI8, SoftmaxI8Context, refusal
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = SoftmaxI8()


@PLATFORM.kernel(
    "Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="softmax_i8.c.mako",
    sources=["tiles.h", "softmax_tile.h", "../../generic/kernels/softmax.h"], preference=20,
)  # fmt: skip
class TiledSoftmaxI8(TiledKernelMethods):
    """Softmax on codes over tiles in L1."""

    tile_type = "tilewright_softmax_tile"

    def accepts(self, call: Call) -> str | None:
        """More lines than one, and exact codes."""
        shape = call.shape(0)
        if prod(shape) == shape[softmax_axis(call)]:
            return "there is one line alone, nothing to share among the cores"
        return refusal(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do; eight lines give every core one."""
        axis = softmax_axis(call)
        longest = max((i for i in range(len(call.shape(0))) if i != axis), key=lambda i: call.shape(0)[i])
        return [prefer(f"i{longest}", CORES, why="eight cores take a line each")]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Thirty cycles a code, and a division for each line."""
        length = call.shape(0)[softmax_axis(call)]
        lines: Any = 1
        for axis in range(len(call.shape(0))):
            if axis != softmax_axis(call):
                lines = lines * sizes[f"i{axis}"]
        return 400 + -(-lines // CORES) * (250 + length * 30)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return PORTABLE.constants(operands)

    def context(self, operands: Operands) -> SoftmaxI8Context:
        """Extents and the quotient's constants."""
        return PORTABLE.context(operands)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Lines, and the distance of a line's codes."""
        axis, box = softmax_axis(call), view.boxes["x"].box
        sizes = [high - low for low, high in box]
        return {"lines": prod(sizes) // sizes[axis], "inner": prod(sizes[axis + 1 :])}
