"""Shift: a window over time moves on where it lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import newest_first, shift_axis
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import MOVED, c_type, constants_by_name, empty, recoded
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class ShiftContext:
    """`outer` windows of `left` elements that stay and `taken` that come; these come `first` or behind the others."""

    outer: int
    left: int
    taken: int
    first: bool
    c_type: str


@PLATFORM.kernel("Shift", types=f"{MOVED}, {MOVED} -> {MOVED}", template="shift.c.mako")
class ShiftWindow(KernelMethods):
    """Each window is moved within itself, element by element in the order that lets it lie where it lay.

    Libraries for microcontrollers move byte by byte; here four elements are read before four are written.
    """

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return empty(call) or recoded(call, 0, 1)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Either operand where it is constant."""
        return constants_by_name(operands, 0, 1)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every window is moved within itself before the update is written behind or before it."""
        return () if 0 in call.constants else ((0, 0),)

    def cost(self, call: Call) -> float:
        """Elements moved, several at a time."""
        return call.outputs[0].elements / 2

    def context(self, operands: Operands) -> ShiftContext:
        """Sizes around the axis."""
        call = operands.call
        axis, shape = shift_axis(call), call.shape()
        inner, taken = prod(shape[axis + 1 :]), call.shape(1)[axis]
        return ShiftContext(
            prod(shape[:axis]),
            (shape[axis] - taken) * inner,
            taken * inner,
            newest_first(call),
            c_type(call.outputs[0]),
        )
