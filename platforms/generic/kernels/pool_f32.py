"""Float MaxPool and AveragePool: windows cut to the input once a row or column, taps written out, no test at a tap.

A maximum is taken column by column, and columns that neighbouring windows share are taken once. Sums add tap by tap in
the order of the operator's meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import pool_window
from tilewright.platform import Call, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, axis
from tilewright.platforms.generic.kernels.float_text import clamp_text
from tilewright.platforms.generic.kernels.softmax_i8 import strides
from tilewright.platforms.generic.platform import PLATFORM

LONGEST = 7
"""Taps of one axis that are written out; a longer axis is walked in a loop."""
MOST_TAPS = 1 << 14
"""Elements that a mean may divide by: their number fits in an int of 16 bits."""
WIDEST_PLANE = 1 << 24


@dataclass(frozen=True)
class PoolF32Context:
    """Every number of one pool; steps are in elements. `ends` is the counted padding behind rows and columns, `counted`
    whether padding is counted at all; `shared` the columns that a window has in common with the next one."""

    largest: bool
    h: Axis
    w: Axis
    images: int
    channels: int
    x_steps: tuple[int, ...]
    y_steps: tuple[int, ...]
    counted: bool
    ends: tuple[int, int]
    written_out: bool
    shared: int
    clamp: str


def pool_axes(call: Call, x_steps: tuple[int, ...]) -> tuple[Axis, Axis]:
    """Rows and columns; one row where the operand has no second axis."""
    sizes, window = call.shape(0)[2:], pool_window(call)
    axes = [
        axis(*numbers)
        for numbers in zip(
            sizes, window.outs, window.kernel, window.strides, window.dilations, window.begins, x_steps[2:], strict=True
        )
    ]
    return axes[-2] if len(axes) == 2 else axis(1, 1, 1, 1, 1, 0, 0), axes[-1]


def _taps(side: Axis, at: int) -> int:
    """Taps of the window of result `at` that lie inside of the input."""
    start = at * side.stride - side.pad
    return sum(0 <= start + tap * side.dilation < side.size for tap in range(side.kernel))


def _shared(side: Axis) -> int:
    return max(0, side.kernel - side.stride) if side.dilation == 1 else 0


@PLATFORM.kernel(
    "MaxPool", "AveragePool", types="f32 -> f32", template="pool_f32.c.mako", layout=("axes", "like"),
    sources=["pool_f32.h", "larger_f32.h"], numerics="1e-5", preference=5,
)  # fmt: skip
class PoolF32(KernelMethods):
    """Float pools of lines and pictures in any order of axes."""

    def accepts(self, call: Call) -> str | None:
        """Values of windows that all hold an element, over one or two axes."""
        shape, window = call.shape(0), pool_window(call)
        if len(call.outputs) > 1:
            return "the places of the largest elements are asked for, the kernel finds values"
        if len(shape) not in (3, 4):
            return f"{len(shape) - 2} spatial axes, the kernel handles one or two"
        if prod(window.kernel) > MOST_TAPS or max(prod(shape), call.outputs[0].elements) > WIDEST_PLANE:
            return f"a window of more than {MOST_TAPS} taps or a tensor of more than {WIDEST_PLANE} elements"
        if not call.tensor(0).elements or not call.outputs[0].elements:
            return "the tensor has no elements"
        sides = pool_axes(call, (0,) * len(shape))
        if any(not _taps(side, at) for side in sides for at in range(side.out)):
            return "a window holds padding only"
        return None

    def adds_in_order(self, call: Call) -> bool:
        """Elements are added from the first tap on, and divided once."""
        return call.node.op == "AveragePool"

    def cost(self, call: Call) -> float:
        """Five instructions a comparison or sum, and what a result and a row take."""
        h, w = pool_axes(call, (0,) * len(call.shape(0)))
        results = call.outputs[0].elements
        taps = h.kernel * w.kernel
        if call.node.op == "MaxPool" and max(h.kernel, w.kernel) <= LONGEST:
            taps = h.kernel * (w.kernel - _shared(w)) + w.kernel - 1
        return results * (5.0 * taps + 10.0) + 30.0 * results / w.out

    def context(self, operands: Operands) -> PoolF32Context:
        """The numbers of the pool."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        x_steps, y_steps = (strides(operands, tensor.name, tensor.shape) for tensor in (x, y))
        h, w = pool_axes(call, x_steps)
        ends = pool_window(call).ends
        return PoolF32Context(
            largest=call.node.op == "MaxPool",
            h=h,
            w=w,
            images=x.shape[0],
            channels=x.shape[1],
            x_steps=x_steps,
            y_steps=(*y_steps[:2], *((0,) if len(y_steps) == 3 else ()), *y_steps[2:]),
            counted=bool(call.integer("count_include_pad", 0)),
            ends=(ends[0] if len(ends) == 2 else 0, ends[-1]),
            written_out=max(h.kernel, w.kernel) <= LONGEST,
            shared=_shared(w),
            clamp=clamp_text("v", call.node.clamp),
        )
