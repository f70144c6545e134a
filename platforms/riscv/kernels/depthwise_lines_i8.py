"""Integer depthwise convolution of windows that registers do not hold: a line of results, some taps at a time.

A channel is copied to a plane with zero points around it, so that no window has an edge; of dilated columns every
`dilation`-th comes to a line of its own, where taps are neighbours. A window of nine taps or fewer stays in registers
while its line is computed. Of a larger one up to eight taps of a row are added to the sums of a line, which lie in
scratch. 3.1 to 4.0 instructions per multiply-accumulate of 5x5 and 7x7 windows with gcc 12 for rv32imc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels import conv_i8, depthwise_i8
from tilewright.platforms.generic.kernels.blocks import Axis, axis
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, Scalars, scalars
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.kernels.depthwise_i8 import LARGEST_WINDOW, Step, period, steps
from tilewright.platforms.riscv.platform import PLATFORM

MOST_TAPS = 8
"""Taps whose weights and inputs stay in registers."""


@dataclass(frozen=True)
class LinesWork(Work):
    """Products; loads of inputs; sums loaded and stored; results; lines that are called for; inputs that are copied."""

    products: float
    loads: float
    sums: float
    results: float
    calls: float
    copied_inputs: float


PRICES = LinesWork(products=2.0, loads=1.0, sums=2.4, results=13.0, calls=22.0, copied_inputs=6.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class Taps:
    """Taps of a row of the window from `first` on, whose steps are those of `line`."""

    first: int
    line: int


@dataclass(frozen=True)
class Line:
    """How `rows` rows of `taps` taps are added for `results` results: the first, a steady part that is repeated, and
    what is left."""

    rows: int
    taps: int
    results: int
    first: Step
    steady: tuple[Step, ...]
    rounds: int
    tail: tuple[Step, ...]


@dataclass(frozen=True)
class LinesContext:
    """Every number of one convolution.

    A row of the plane holds `phases` lines of `columns` inputs, which give `results` sums each; the last phases have
    one result less where these are no multiple. `whole` windows are taken at once, by a line for each number of
    results; else `taps` of one row after the other.
    """

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    h: Axis
    w: Axis
    channels: int
    phases: int
    columns: int
    results: int
    plane_rows: int
    whole: bool
    lines: tuple[Line, ...]
    taps: tuple[Taps, ...]
    sums_at: int
    zero: int
    requantise: Scalars

    @property
    def row(self) -> int:
        """Elements of a row of the plane."""
        return self.phases * self.columns


def chunks(kernel: int) -> list[tuple[int, int]]:
    """(first tap, taps) of the parts of a row of the window, as even as can be."""
    count = -(-kernel // MOST_TAPS)
    ends = [kernel * (part + 1) // count for part in range(count)]
    return [(first, last - first) for first, last in zip([0, *ends], ends, strict=False)]


def line_of(rows: int, taps: int, stride: int, results: int) -> Line:
    """The steps of one line; from the second result on they repeat."""
    along = axis((results - 1) * stride + taps, results, taps, stride, 1, 0, 1)
    every, again = steps(along), period(along)
    rounds = (results - 1) // again
    return Line(rows, taps, results, every[0], every[1 : 1 + again], rounds, every[1 + rounds * again :])


def phases_of(w: Axis) -> int:
    """Lines that the columns of the window lie in."""
    return w.dilation if w.kernel > 1 else 1


def is_whole(h: Axis, w: Axis) -> bool:
    """True where registers hold the window and its weights."""
    return h.kernel * w.kernel <= LARGEST_WINDOW


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_lines_i8.c.mako", layout="channels_last",
    sources=["scalar.h", *ROUNDING], preference=42, requires=Needs(lacks=("rvv",)),
)  # fmt: skip
class DepthwiseLinesI8(KernelMethods):
    """Integer depthwise convolution of any window, line by line of a copied channel."""

    def accepts(self, call: Call) -> str | None:
        """One result for each channel; no window with both gaps and strides in a row."""
        if (refused := depthwise_i8.accepts(call)) is not None:
            return refused
        _, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        if w.kernel > 1 and w.dilation > 1 and w.stride > 1:
            return "columns of the window have gaps and strides, neighbouring results share none"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by channel, folded starts, requantisation."""
        call = operands.call
        weights, dtype = square(call)
        start = np.asarray(accumulator(call).start, np.int32)
        requantisation = requantise(proof(call)).constants
        return (Constant("w", dtype, weights.reshape(-1)), Constant("b", DType.I32, start), *requantisation)

    def scratch(self, operands: Operands) -> int:
        """The plane of a channel, and the sums of a line where a window is taken in parts."""
        made = self.context(operands)
        return made.sums_at + (0 if made.whole else 4 * made.phases * made.results)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand of a result of its shape: a channel is copied before its results are written."""
        x, y = call.tensor(0), call.outputs[0]
        return ((0, 0),) if (x.shape, x.dtype.bits) == (y.shape, y.dtype.bits) else ()

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        channels, phases, parts, results = call.shape(0)[1], phases_of(w), chunks(w.kernel), call.outputs[0].elements
        passes = 0 if is_whole(h, w) else h.kernel * len(parts)
        each = sum(min(taps, w.stride) for _, taps in parts)
        return LinesWork(
            products=results * h.kernel * w.kernel,
            loads=results * h.kernel * each,
            sums=results * (passes + (2 if passes else 0)),
            results=results,
            calls=channels * h.out * phases * (1 + passes),
            copied_inputs=call.tensor(0).elements,
        ).priced(PRICES)

    def context(self, operands: Operands) -> LinesContext:
        """The plane, its lines and the steps of each part of a row."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        phases, parts = phases_of(w), chunks(w.kernel)
        results = -(-w.out // phases)
        columns = (results - 1) * w.stride + w.kernel
        sizes, counts = sorted({taps for _, taps in parts}), sorted({results, w.out // phases} - {0}, reverse=True)
        if whole := is_whole(h, w):
            lines = [line_of(h.kernel, w.kernel, w.stride, count) for count in counts]
        else:
            lines = [line_of(1, taps, w.stride, results) for taps in sizes]
        rows = (h.out - 1) * h.stride + (h.kernel - 1) * h.dilation + 1
        plane = rows * phases * columns * x.dtype.bits // 8
        return LinesContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype], h=h, w=w,
            channels=x.shape[1], phases=phases, columns=columns, results=results,
            plane_rows=rows, whole=whole, lines=tuple(lines),
            taps=tuple(Taps(first, sizes.index(taps)) for first, taps in parts),
            sums_at=plane + -plane % 4, zero=x.quantisation.zero_point[0], requantise=scalars(call),
        )  # fmt: skip
