"""Largest codes of windows: channels in words of four or two, or in whole vectors, tap by tap inside of the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.numerics import C_TYPES, code_limits, same_meaning
from tilewright.operators import pool_window
from tilewright.platform import Call, DType, KernelMethods, Needs, Operands, Tensor, Work
from tilewright.platforms.cortex_m.platform import PLATFORM

TYPES = "qi8|qu8|qi16|qu16 -> qi8|qu8|qi16|qu16"
MOST_WRITTEN_OUT = 9
"""Taps of a whole window that are written out."""


@dataclass(frozen=True)
class PoolWork(Work):
    """Steps of one tap over some channels; stored steps; pixels of the result."""

    taps: float
    steps: float
    pixels: float


@dataclass(frozen=True)
class Side:
    """One axis: extents of operand and result, window, stride, and the padding before it."""

    size: int
    out: int
    kernel: int
    stride: int
    pad: int


@dataclass(frozen=True)
class MaxPoolContext:
    """Every number of one pool; `sign` is `s` or `u`, `bits` those of a code, `at_once` channels of a block, `taps`
    places of the codes of a whole window where they are written out."""

    code: str
    sign: str
    bits: int
    at_once: int
    h: Side
    w: Side
    channels: int
    taps: tuple[int, ...]


def sides(call: Call) -> tuple[Side, Side]:
    """Rows and columns; one row where the operand has no second axis."""
    window = pool_window(call)
    extents = (call.shape(0)[2:], window.outs, window.kernel, window.strides, window.begins)
    both = [Side(*each) for each in zip(*extents, strict=True)]
    return (both[0], both[1]) if len(both) == 2 else (Side(1, 1, 1, 1, 0), both[0])


class MaxPoolMethods(KernelMethods):
    """What both kernels answer alike; they differ in their C and its prices."""

    _prices: ClassVar[PoolWork]
    _least: ClassVar[int]
    _most: ClassVar[int]

    def accepts(self, call: Call) -> str | None:
        """One picture or line of neighbouring taps, codes that mean the same, enough channels."""
        x, y, window = call.tensor(0), call.outputs[0], pool_window(call)
        if len(call.outputs) > 1 or x.shape[0] != 1 or len(x.shape) not in (3, 4) or set(window.dilations) != {1}:
            return "the kernel takes the values of one picture or line, without dilation"
        if x.dtype is not y.dtype or not same_meaning(x, y) or code_limits(call, y) != y.dtype.range:
            return "the kernel takes codes as they are"
        least = max(1, self._least * 8 // x.dtype.bits)
        if x.shape[1] < least:
            return f"{x.shape[1]} channels, the kernel takes at least {least}"
        return None

    def _at_once(self, x: Tensor) -> int:
        """Channels of a block: as many words or vectors as registers hold and the operand fills."""
        one = self._most * 8 // x.dtype.bits
        while one > max(1, self._least * 8 // x.dtype.bits) and one > x.shape[1]:
            one //= 2
        return one

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        h, w = sides(call)
        steps = h.out * w.out * -(-call.shape(0)[1] // self._at_once(call.tensor(0)))
        return PoolWork(taps=steps * h.kernel * w.kernel, steps=steps, pixels=h.out * w.out).priced(self._prices)

    def context(self, operands: Operands) -> MaxPoolContext:
        """The numbers of the layer."""
        x = operands.call.tensor(0)
        h, w = sides(operands.call)
        sign = "s" if x.dtype in (DType.I8, DType.I16) else "u"
        channels = x.shape[1]
        taps = tuple((row * w.size + column) * channels for row in range(h.kernel) for column in range(w.kernel))
        written_out = taps if len(taps) <= MOST_WRITTEN_OUT else ()
        return MaxPoolContext(C_TYPES[x.dtype], sign, x.dtype.bits, self._at_once(x), h, w, channels, written_out)


@PLATFORM.kernel(
    "MaxPool", types=TYPES, template="max_pool_dsp.c.mako", layout="channels_last", sources=["dsp.h"], preference=20,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class MaxPoolDsp(MaxPoolMethods):
    """Up to two words at a time: a subtraction of their parts marks the larger ones, a selection takes them."""

    _prices = PoolWork(taps=7.0, steps=14.0, pixels=24.0)
    _least, _most = 4, 8


@PLATFORM.kernel(
    "MaxPool", types=TYPES, template="max_pool_mve.c.mako", layout="channels_last", sources=["mve.h"], preference=40,
    requires=Needs(has=("mve",)),
)  # fmt: skip
class MaxPoolMve(MaxPoolMethods):
    """A vector of channels at a time; lanes behind the last channel are neither read nor written."""

    _prices = PoolWork(taps=6.0, steps=14.0, pixels=24.0)
    _least, _most = 1, 16

    def _at_once(self, x: Tensor) -> int:
        return self._most * 8 // x.dtype.bits
