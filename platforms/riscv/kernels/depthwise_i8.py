"""Integer depthwise convolution, 3x3 and smaller, one channel at a time: weights and the window stay in registers.

A column of results is computed from top to bottom, so that each step loads only the rows that are new to the window.
Rows above and below the input are its zero point, which costs no load; columns beside it are left out and their
share of the folded start is given back. 3.4 instructions per multiply-accumulate with gcc 12 for rv32imc.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from tilewright.codegen.c_types import C_TYPES
from tilewright.ops.quantised_linear import accumulator, proof
from tilewright.platform import Call, Constant, DType, Operands
from tilewright.platforms.generic.kernels import conv_i8, depthwise_i8
from tilewright.platforms.generic.kernels.conv_f32 import Axis
from tilewright.platforms.generic.kernels.requantise_text import requantise_text
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, HALF_EVEN, Requantise, scalars
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.platform import PLATFORM

LARGEST_WINDOW = 9


@dataclass(frozen=True)
class Columns:
    """Neighbouring columns of results whose windows meet the input in the same columns `taps` of the kernel."""

    first: int
    last: int
    taps: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One result of a column: registers and rows that it loads, and per kernel row the register, -1 for padding."""

    loads: tuple[tuple[int, int], ...]
    window: tuple[int, ...]


@dataclass(frozen=True)
class DepthwiseContext:
    """Every number of one convolution; weights lie [channel][kh][kw]. `steady` is repeated `rounds` times."""

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    h: Axis
    w: Axis
    channels: int
    columns: tuple[Columns, ...]
    head: tuple[Step, ...]
    steady: tuple[Step, ...]
    rounds: int
    tail: tuple[Step, ...]
    zero: int
    requantise: Requantise


def columns(w: Axis) -> tuple[Columns, ...]:
    """The results of a row in runs of equal taps."""
    found: list[Columns] = []
    for at in range(w.out):
        left = at * w.stride - w.pad
        taps = tuple(t for t in range(w.kernel) if 0 <= left + t * w.dilation < w.size)
        if found and found[-1].taps == taps:
            found[-1] = Columns(found[-1].first, at + 1, taps)
        else:
            found.append(Columns(at, at + 1, taps))
    return tuple(found)


def steps(h: Axis) -> tuple[Step, ...]:
    """Every result of a column; input row `r` lives in register `r % kernel`."""
    found, known = list[Step](), set[int]()
    for at in range(h.out):
        rows = [at * h.stride - h.pad + i for i in range(h.kernel)]
        inside = [row for row in rows if 0 <= row < h.size]
        loads = tuple((row % h.kernel, row) for row in inside if row not in known)
        known = set(inside)
        found.append(Step(loads, tuple(row % h.kernel if 0 <= row < h.size else -1 for row in rows)))
    return tuple(found)


def period(h: Axis) -> int:
    """Results until the window uses its registers in the same order again."""
    return h.kernel // gcd(h.kernel, h.stride)


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_i8.c.mako", layout="channels_last",
    sources=["scalar.h", HALF_EVEN], preference=40,
)  # fmt: skip
class DepthwiseWindowI8:
    """Integer depthwise convolution with its window in registers."""

    def accepts(self, call: Call) -> str | None:
        """At most nine taps without gaps between rows, one output channel per input channel."""
        if (refused := depthwise_i8.accepts(call)) is not None:
            return refused
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        if h.kernel * w.kernel > LARGEST_WINDOW or h.kernel * w.kernel == 1:
            return f"the window is {h.kernel} x {w.kernel}, registers hold two to {LARGEST_WINDOW} taps"
        if h.dilation > 1 and h.kernel > 1:
            return "the window is dilated, its rows would not stay in registers"
        if h.pad >= h.kernel or any(not run.taps for run in columns(w)):
            return "some windows see nothing but padding"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by channel, folded starts, requantisation."""
        call = operands.call
        weights, dtype = square(call)
        _, requantisation = requantise_text(proof(call), weights.shape[0])
        start = np.asarray(accumulator(call).start, np.int32)
        return (Constant("w", dtype, weights.reshape(-1)), Constant("b", DType.I32, start), *requantisation)

    def cost(self, call: Call) -> float:
        """Loads, products and the requantisation of every result."""
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        return call.outputs[0].elements * (min(h.stride, h.kernel) * w.kernel + 2.0 * h.kernel * w.kernel + 11)

    def context(self, operands: Operands) -> DepthwiseContext:
        """The column as steps before, in and behind a loop."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        text, _ = requantise_text(proof(call), y.shape[1])
        every = steps(h)
        first = min(h.inner_first + 1, h.out)  # the first whole window is loaded as a whole
        rounds = max(h.inner_last - first, 0) // period(h)
        last = first + rounds * period(h)
        return DepthwiseContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype], h=h, w=w,
            channels=x.shape[1], columns=columns(w), head=every[:first], steady=every[first : first + period(h)],
            rounds=rounds, tail=every[last:], zero=x.quantisation.zero_point[0], requantise=scalars(text),
        )  # fmt: skip
