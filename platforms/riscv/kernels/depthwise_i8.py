"""Integer depthwise convolution, 3x3 and smaller, one channel at a time: weights and the window stay in registers.

A line of results is computed along one axis, so that each step loads only what is new to the window. What lies before
and behind the line is the input's zero point, which costs no load; what lies beside the input is left out and its
share of the folded start is given back. `DepthwisePlaneI8` walks down columns of a copied channel, so that the result
may take the operand's place; `DepthwiseWindowI8` walks along rows, one row for all channels after the other. 3.4 to 3.8
instructions per multiply-accumulate with gcc 12 for rv32imc.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import ClassVar

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels import conv_i8, depthwise_i8
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, Scalars, scalars
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class DepthwiseWork(Work):
    """Loads, products and results; lines of results; inputs that are copied; channels."""

    loads: float
    products: float
    results: float
    lines: float
    copied_inputs: float
    channels: float


LARGEST_WINDOW = 9
PLANE_PRICES = DepthwiseWork(loads=1.3, products=0.9, results=17.0, lines=54.0, copied_inputs=4.4, channels=0.0)
WINDOW_PRICES = DepthwiseWork(loads=1.25, products=2.77, results=2.0, lines=51.5, copied_inputs=0.0, channels=0.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class Lines:
    """Neighbouring lines of results whose windows meet the input in the same `taps` across them."""

    first: int
    last: int
    taps: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One result of a line: registers and places that it loads, and per kernel place the register, -1 for padding."""

    loads: tuple[tuple[int, int], ...]
    window: tuple[int, ...]


@dataclass(frozen=True)
class DepthwiseContext:
    """Every number of one convolution along `h` and across it `w`; strides of results and weights along and across.

    Weights lie [channel][kh][kw]. `steady` is repeated `rounds` times.
    """

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    h: Axis
    w: Axis
    y_strides: tuple[int, int]
    w_strides: tuple[int, int]
    channels: int
    lines: tuple[Lines, ...]
    head: tuple[Step, ...]
    steady: tuple[Step, ...]
    rounds: int
    tail: tuple[Step, ...]
    zero: int
    plane: bool
    requantise: Scalars


def lines(w: Axis) -> tuple[Lines, ...]:
    """The lines in runs of equal taps."""
    lines: list[Lines] = []
    for at in range(w.out):
        left = at * w.stride - w.pad
        taps = tuple(t for t in range(w.kernel) if 0 <= left + t * w.dilation < w.size)
        if lines and lines[-1].taps == taps:
            lines[-1] = Lines(lines[-1].first, at + 1, taps)
        else:
            lines.append(Lines(at, at + 1, taps))
    return tuple(lines)


def steps(h: Axis) -> tuple[Step, ...]:
    """Every result of a line; what lies at place `p` lives in register `p % kernel`."""
    steps, known = list[Step](), set[int]()
    for at in range(h.out):
        rows = [at * h.stride - h.pad + i for i in range(h.kernel)]
        inside = [row for row in rows if 0 <= row < h.size]
        loads = tuple((row % h.kernel, row) for row in inside if row not in known)
        known = set(inside)
        steps.append(Step(loads, tuple(row % h.kernel if 0 <= row < h.size else -1 for row in rows)))
    return tuple(steps)


def period(h: Axis) -> int:
    """Results until the window uses its registers in the same order again."""
    return h.kernel // gcd(h.kernel, h.stride)


def plane_bytes(call: Call) -> int:
    """Bytes of one channel of the operand."""
    x = call.tensor(0)
    return x.elements // x.shape[1] * x.dtype.bits // 8


class DepthwiseMethods(KernelMethods):
    """What both kernels answer alike; `_plane` tells them apart."""

    _plane: ClassVar[bool]
    _prices: ClassVar[DepthwiseWork]

    def accepts(self, call: Call) -> str | None:
        """At most nine taps without gaps between rows, one output channel per input channel."""
        if (refused := depthwise_i8.accepts(call)) is not None:
            return refused
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        if h.kernel * w.kernel > LARGEST_WINDOW or h.kernel * w.kernel == 1:
            return f"the window is {h.kernel} x {w.kernel}, registers hold two to {LARGEST_WINDOW} taps"
        if h.dilation * w.dilation > 1:
            return "the window is dilated, it would not stay in registers"
        if any(not run.taps for run in (*lines(w), *lines(h))):
            return "some windows see nothing but padding"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by channel, folded starts, requantisation."""
        call = operands.call
        weights, dtype = square(call)
        requantisation = requantise(proof(call)).constants
        start = np.asarray(accumulator(call).start, np.int32)
        return (Constant("w", dtype, weights.reshape(-1)), Constant("b", DType.I32, start), *requantisation)

    def _work(self, call: Call) -> DepthwiseWork:
        """The work of one call."""
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        along, across = (h, w) if self._plane else (w, h)
        channels, taps = call.shape(0)[1], sum(len(run.taps) * (run.last - run.first) for run in lines(across))
        loads = sum(len(step.loads) for step in steps(along)) * taps
        products = sum(sum(r >= 0 for r in step.window) for step in steps(along)) * taps
        return DepthwiseWork(
            loads=channels * loads,
            products=channels * products,
            results=call.outputs[0].elements,
            lines=channels * across.out,
            copied_inputs=call.tensor(0).elements if self._plane else 0,
            channels=channels,
        )

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return self._work(call).priced(self._prices)

    def context(self, operands: Operands) -> DepthwiseContext:
        """The line as steps before, in and behind a loop: down a copied channel with `_plane`, else along a row."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        channels = x.shape[1]
        y_strides, w_strides = (w.out * channels, channels), (w.kernel, 1)
        if self._plane:
            h, w = replace(h, x_stride=x.shape[-1]), replace(w, x_stride=1)
        else:
            h, w, y_strides, w_strides = w, h, y_strides[::-1], w_strides[::-1]
        every = steps(h)
        first = min(h.inner_first + 1, h.out)  # the first whole window is loaded as a whole
        rounds = max(h.inner_last - first, 0) // period(h)
        last = first + rounds * period(h)
        return DepthwiseContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype], h=h, w=w,
            y_strides=y_strides, w_strides=w_strides, channels=channels, lines=lines(w),
            head=every[:first], steady=every[first : first + period(h)],
            rounds=rounds, tail=every[last:], zero=x.quantisation.zero_point[0], plane=self._plane,
            requantise=scalars(call),
        )  # fmt: skip


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_i8.c.mako", layout="channels_last",
    sources=["scalar.h", *ROUNDING], preference=40, requires=Needs(lacks=("rvv",)),
)  # fmt: skip
class DepthwiseWindowI8(DepthwiseMethods):
    """Integer depthwise convolution with its window in registers."""

    _plane = False
    _prices = WINDOW_PRICES

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        return depthwise_i8.depthwise_overlap(operands)


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_i8.c.mako", layout="channels_last",
    sources=["scalar.h", *ROUNDING], preference=45, requires=Needs(lacks=("rvv",)),
)  # fmt: skip
class DepthwisePlaneI8(DepthwiseMethods):
    """Integer depthwise convolution whose result may take its operand's place: each channel is copied aside first."""

    _plane = True
    _prices = PLANE_PRICES

    def accepts(self, call: Call) -> str | None:
        """A result of the operand's shape and element size, and a copy smaller than the gap that rows would need."""
        if (refused := super().accepts(call)) is not None:
            return refused
        x, y = call.tensor(0), call.outputs[0]
        if x.shape != y.shape or x.dtype.bits != y.dtype.bits:
            return "the result has another shape than the operand, it could not take its place"
        gap = depthwise_i8.depthwise_overlap(Operands(call))[0][2]
        if plane_bytes(call) >= gap:
            return f"a copy of a channel takes {plane_bytes(call)} bytes, row by row {gap} are enough"
        return None

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return ((0, 0),)

    def scratch(self, operands: Operands) -> int:
        """One channel."""
        return plane_bytes(operands.call)
