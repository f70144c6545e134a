"""Integer depthwise convolution on cores with the vector extension: fours of results of a channel laid apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, MultiplyHigh, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels import depthwise_i8 as portable_depthwise
from tilewright.platforms.generic.kernels.blocks import Axis

LARGEST_PLANE = 1024
"""Bytes of the plane of a channel."""
FOUR = 4
MOST_TAPS = 32
"""Taps that are written out."""


@dataclass(frozen=True)
class LinesWork(Work):
    """Fours of codes that are laid apart, taps of fours of results, these fours, and channels."""

    copied: float
    taps: float
    fours: float
    channels: float


PRICES = LinesWork(copied=8.0, taps=3.0, fours=13.0, channels=25.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class LinesContext:
    """Every number of one layer. The plane has `plane_rows` of `plane_columns` codes; `copied` rows and columns of the
    operand lie in it. `bits` are those of a code."""

    x_type: str
    y_type: str
    x_bits: int
    y_bits: int
    h: Axis
    w: Axis
    channels: int
    plane_rows: int
    plane_columns: int
    copied: tuple[int, int]
    zero: int
    pre_shift: int
    low: int
    high: int


def plane(h: Axis, w: Axis) -> tuple[int, int]:
    """Rows and columns that results read."""
    rows, columns = ((a.out - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 for a in (h, w))
    return rows, columns


@PLATFORM.kernel(
    "Conv", types="qi8|qi16, qi8|qu8|qi4|qu4, i32|i64? -> qi8|qu8|qi16|qu16", template="mve_lines.c.mako",
    layout="channels_last", sources=["mve.h"], preference=43, requires=Needs(has=("mve",)),
)  # fmt: skip
class DepthwiseLinesMve(KernelMethods):
    """Any window, stride and dilation; results may lie over the operand."""

    def accepts(self, call: Call) -> str | None:
        """One result of each channel, lines of four and more, a small plane, a requantisation in 32 bits."""
        if (why := portable_depthwise.accepts(call)) is not None:
            return why
        h, w = matrix_i8.axes_of(call)
        if w.out < FOUR or h.kernel * w.kernel > MOST_TAPS:
            return f"lines have fewer than {FOUR} results, or windows more than {MOST_TAPS} taps"
        if plane_bytes(call) > LARGEST_PLANE:
            return f"the plane of a channel takes more than {LARGEST_PLANE} B"
        return (
            None if isinstance(requantise(proof(call)), MultiplyHigh) else "the requantisation takes more than 32 bits"
        )

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by channel; start, multiplier, addend and shift to the left of each."""
        call = operands.call
        weights, dtype = portable.weights_of(call)
        form, channels = requantise(proof(call)), weights.shape[0]
        assert isinstance(form, MultiplyHigh), "accepts refuses other forms"
        start = np.broadcast_to(np.asarray(accumulator(call).start, np.int64), (channels,))
        numbers = [start, *(np.asarray(n.spread(channels), np.int64) for n in form.numbers)]
        numbers[3] = -numbers[3]
        table = np.stack(numbers, axis=1).astype(np.int32)
        return Constant("w", dtype, weights.reshape(-1)), Constant("table", DType.I32, table.reshape(-1))

    def scratch(self, operands: Operands) -> int:
        """The plane of a channel."""
        return plane_bytes(operands.call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A channel is copied whole before its results are written."""
        return ((0, 0),) if call.tensor(0).dtype.bits == call.outputs[0].dtype.bits else ()

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        h, w = matrix_i8.axes_of(call)
        channels = call.shape(0)[1]
        fours = channels * h.out * -(-w.out // FOUR)
        copied = channels * h.size * -(-w.size // FOUR)
        return LinesWork(copied, fours * h.kernel * w.kernel, fours, channels).priced(PRICES)

    def context(self, operands: Operands) -> LinesContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        h, w = matrix_i8.axes_of(call)
        form = requantise(proof(call))
        assert isinstance(form, MultiplyHigh), "accepts refuses other forms"
        assert x.quantisation is not None
        rows, columns = plane(h, w)
        return LinesContext(
            C_TYPES[x.dtype], C_TYPES[y.dtype], x.dtype.bits, y.dtype.bits, h, w, x.shape[1], rows, columns,
            (min(h.size, rows - h.pad), min(w.size, columns - w.pad)), x.quantisation.zero_point[0], form.pre_shift,
            form.low, form.high,
        )  # fmt: skip


def plane_bytes(call: Call) -> int:
    """Bytes of the plane of a channel, whole vectors."""
    rows, columns = plane(*matrix_i8.axes_of(call))
    return -(-rows * columns * call.tensor(0).dtype.bits // 128) * 16
