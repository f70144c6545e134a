"""Put: one entry of a cache written where it lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import put_axis
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import INDEX, MOVED, constants_by_name, empty, recoded
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class PutContext:
    """`outer` caches of `size` entries of `inner` elements."""

    elements: int
    outer: int
    size: int
    inner: int


@PLATFORM.kernel("Put", types=f"{MOVED}, {MOVED}, {INDEX} -> {MOVED}", template="put.c.mako", sources=["runs.h"])
class PutEntry(KernelMethods):
    """The entry alone is written where the result lies over the cache."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return empty(call) or recoded(call, 0, 1)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, 0, 1, 2)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result takes the memory of the cache."""
        return () if 0 in call.constants else ((0, 0),)

    def context(self, operands: Operands) -> PutContext:
        """Sizes around the axis."""
        call = operands.call
        axis, shape = put_axis(call), call.shape()
        return PutContext(prod(shape), prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
