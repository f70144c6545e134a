"""Pools of codes, channels innermost: windows are cut to the input once a pixel, taps of whole ones are written out."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    code_limits,
    mean_proof,
    requantise,
    same_meaning,
    the_quantisation,
    too_wide,
    window_counts,
)
from tilewright.operators import pool_window
from tilewright.platform import Call, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.pool_f32 import pool_axes
from tilewright.platforms.generic.platform import PLATFORM

TEMPLATE = "../../generic/kernels/pool_i8.c.mako"
BOUNDS = "../../generic/kernels/pool_f32.h"
TYPES = "qi8|qu8|qi16|qu16 -> qi8|qu8|qi16|qu16"
SUFFIXES = {DType.I8: "i8", DType.U8: "u8", DType.I16: "i16", DType.U16: "u16"}
LARGEST = ("MaxPool", "GlobalMaxPool")
MOST_WRITTEN_OUT = 16
"""Taps of a whole window that are written out; a larger one is walked in loops."""
MOST_TAPS = 1 << 14
"""Codes of a window: their sum fits in 31 bits."""


@dataclass(frozen=True)
class PoolI8Context:
    """Every number of one pool; steps in elements, `lanes` channels at a time in `vectors`, or 1 in plain C.

    `codes` are pairs of a number of elements and the code of their sum `acc`; none where the largest code is taken.
    `ends` is the counted padding behind rows and columns, `counted` whether padding is counted at all.
    """

    x_type: str
    y_type: str
    largest: bool
    h: Axis
    w: Axis
    images: int
    channels: int
    taps: tuple[int, ...]
    zero: int
    codes: tuple[tuple[int, str], ...]
    low: int
    high: int
    counted: bool
    ends: tuple[int, int]
    lanes: int
    vectors: str
    suffix: str


def sides_of(call: Call) -> tuple[Axis, Axis]:
    """Rows and columns of channels that lie side by side; one row where the operand has no second axis."""
    places = call.shape(0)[1:]
    steps = (0, 1, *(places[0] * prod(places[axis + 1 :]) for axis in range(1, len(places))))
    return pool_axes(call, steps)


def has_padding_only(side: Axis) -> bool:
    """True where a window lies in the padding."""
    starts = (at * side.stride - side.pad for at in range(side.out))
    return any(all(not 0 <= start + tap * side.dilation < side.size for tap in range(side.kernel)) for start in starts)


class PoolMethods(KernelMethods):
    """What the kernels of plain C and of vectors answer alike."""

    _lanes: ClassVar[int] = 1
    _vectors: ClassVar[str] = ""

    def accepts(self, call: Call) -> str | None:
        """Values of windows that all hold an element, over one or two axes; codes that become codes of one type."""
        x, y, window = call.tensor(0), call.outputs[0], pool_window(call)
        if len(call.outputs) > 1:
            return "the places of the largest elements are asked for, the kernel finds values"
        if len(x.shape) not in (3, 4):
            return f"{len(x.shape) - 2} spatial axes, the kernel handles one or two"
        if x.dtype is not y.dtype or prod(window.kernel) > MOST_TAPS or not x.elements or not y.elements:
            return f"codes of another type, a window of more than {MOST_TAPS} taps, or no elements"
        if any(map(has_padding_only, sides_of(call))):
            return "a window holds padding only"
        if call.node.op in LARGEST:
            as_they_are = same_meaning(x, y) and code_limits(call, y) == y.dtype.range
            return None if as_they_are else "the kernel takes the largest codes as they are"
        return next((why for n in window_counts(call).tolist() if (why := too_wide(mean_proof(call, int(n))))), None)

    def context(self, operands: Operands) -> PoolI8Context:
        """The numbers of the pool."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        h, w = sides_of(call)
        largest, ends = call.node.op in LARGEST, pool_window(call).ends
        counts = () if largest else tuple(map(int, window_counts(call).tolist()))
        low, high = code_limits(call, y)
        places = [kh * h.dilation * h.x_stride + kw * w.dilation * w.x_stride
                  for kh in range(h.kernel) for kw in range(w.kernel)]  # fmt: skip
        return PoolI8Context(
            x_type=C_TYPES[x.dtype], y_type=C_TYPES[y.dtype], largest=largest, h=h, w=w, images=x.shape[0],
            channels=x.shape[1], taps=tuple(places) if len(places) <= MOST_WRITTEN_OUT else (),
            zero=the_quantisation(x).zero_point[0],
            codes=tuple((n, requantise(mean_proof(call, n)).code("acc")) for n in counts), low=low, high=high,
            counted=bool(call.integer("count_include_pad", 0)), ends=(ends[0] if len(ends) == 2 else 0, ends[-1]),
            lanes=self._lanes, vectors=self._vectors, suffix=SUFFIXES[x.dtype],
        )  # fmt: skip


@PLATFORM.kernel(
    "MaxPool", "AveragePool", types=TYPES, template="pool_i8.c.mako", layout="channels_last",
    sources=[BOUNDS, *ROUNDING], preference=12,
)  # fmt: skip
class PoolI8(PoolMethods):
    """Pools of codes, channel by channel."""
