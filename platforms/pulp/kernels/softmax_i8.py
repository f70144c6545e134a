"""Softmax on codes over tiles: the axis that is summed stays whole, the lines are shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.numerics import SHIFTS, softmax_axis, softmax_form
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView, prefer
from tilewright.platforms.generic.kernels.softmax_i8 import Quotient, SoftmaxI8, refusal
from tilewright.platforms.pulp.kernels import softmax_asm
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

PORTABLE = SoftmaxI8()
GENERIC = "../../generic/kernels/"


@dataclass(frozen=True)
class TiledSoftmaxContext:
    """Lines of `length` codes; `sums` and `shares` are the loops over a line whose codes lie side by side, empty where
    a code and its fraction do not fit 31 bits."""

    x_type: str
    y_type: str
    length: int
    quotient: Quotient
    low: int
    high: int
    sums: str
    shares: str

    @property
    def addend(self) -> int:
        """Half a code and the zero point, where the fraction has `shift` bits."""
        return self.quotient.half + (self.quotient.zero_point << self.quotient.shift)


@PLATFORM.kernel(
    "Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="softmax_i8.c.mako",
    sources=[
        SHIFTS, *(f"{GENERIC}{name}.h" for name in ("fixed", "fixed_reciprocal", "softmax_multiplier", "softmax")),
        "tiles.h", "softmax_tile.h", "xpulp.h",
    ], preference=20,
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
        """Twenty-three cycles a code, and the reciprocal of each sum."""
        length = call.shape(0)[softmax_axis(call)]
        lines: Any = 1
        for axis in range(len(call.shape(0))):
            if axis != softmax_axis(call):
                lines = lines * sizes[f"i{axis}"]
        return 400 + -(-lines // CORES) * (200 + length * 23)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return PORTABLE.constants(operands)

    def context(self, operands: Operands) -> TiledSoftmaxContext:
        """Extents, the quotient's constants and the loops over a line."""
        form, whole = softmax_form(operands.call), PORTABLE.context(operands)
        quotient, rounds, limits = whole.quotient, whole.rounds, (form.low, form.high)
        fraction = 1 << quotient.shift
        most = (form.factor >> form.fraction_bits) + 2 + form.zero_point
        fits = operands.call.outputs[0].dtype.bits == 8 and max(most, -form.zero_point, 1) * fraction < 1 << 31
        load = "p.lb" if operands.call.tensor(0).dtype is DType.I8 else "p.lbu"
        return TiledSoftmaxContext(
            whole.x_type, whole.y_type, whole.length, quotient, form.low, form.high,
            softmax_asm.sums(rounds, load).text(" " * 16) if fits else "",
            softmax_asm.shares(rounds, load, quotient.shift, limits).text(" " * 16) if fits else "",
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Lines, and the distance of a line's codes."""
        axis, box = softmax_axis(call), view.boxes["x"].box
        sizes = [high - low for low, high in box]
        return {"lines": prod(sizes) // sizes[axis], "inner": prod(sizes[axis + 1 :])}
