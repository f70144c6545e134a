"""Integer convolution in blocks of four pixels and four output channels: sixteen accumulators in registers.

Weights lie [block][kh][kw][ic][4], so that a block walks them with one pointer. `ConvBlockI8` reads the input where it
lies; `ConvGatherI8` first copies the windows of four pixels side by side, which pays where rows are short or channels
few. 2.65 instructions per multiply-accumulate with gcc 12 for rv32imc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, accumulator, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels import conv_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Block, Groups, channel_blocks, groups_of
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps, row_steps
from tilewright.platforms.riscv.kernels.blocks_i8 import (
    ATTRIBUTE,
    WIDTH,
    Scalars,
    packed,
    pixels_at_once,
    scalars,
)
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class ConvWork(Work):
    """Products, loads, results, blocks; rows of windows that a block walks, or runs copied; tested taps; copied bytes.

    A block covers some pixels and the output channels of a group by fours.
    """

    products: float
    loads: float
    results: float
    blocks: float
    runs: float
    tests: float
    copies: float


BLOCK_PRICES = ConvWork(products=2.15, loads=0.95, results=12.0, blocks=0.0, runs=15.7, tests=0.66, copies=0.0)
GATHER_PRICES = ConvWork(products=2.15, loads=0.95, results=12.0, blocks=0.0, runs=1.3, tests=0.0, copies=6.6)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class Run:
    """Blocks of neighbours in a row, one behind the other; `inner` where all their windows lie inside the input."""

    inner: bool
    first: int
    count: int


@dataclass(frozen=True)
class ConvContext:
    """Every number of one convolution; strides in elements.

    Rows are the outermost loop; with `gather` or `pointwise` the pixels of all rows are, and channels turn inside.
    """

    attribute: str
    x_type: str
    w_type: str
    y_type: str
    h: Axis
    w: Axis
    groups: Groups
    depth: int
    pixels: int
    blocks: tuple[Block, ...]
    runs: tuple[Run, ...]
    padded: bool
    gather: bool
    pointwise: bool
    zero: int
    requantise: Scalars


def square(call: Call) -> tuple[Array, DType]:
    """Weights minus their zero point as [OC, IC, KH, KW]."""
    weights, dtype = conv_i8.weights_of(call)
    return (weights[:, :, None, :] if weights.ndim == 3 else weights), dtype


def runs(w: Axis, pixels: int, contiguous: bool) -> tuple[Run, ...]:
    """The blocks of a row; the last one overlaps the one before where the row is no multiple of the block."""
    runs: list[Run] = []
    for start in range(0, w.out, pixels):
        at = min(start, w.out - pixels)
        inner = contiguous and w.inner_first <= at and at + pixels <= w.inner_last
        if inner and runs and runs[-1].inner and at == runs[-1].first + runs[-1].count * pixels:
            runs[-1] = Run(True, runs[-1].first, runs[-1].count + 1)
        else:
            runs.append(Run(inner, at, 1))
    return tuple(runs)


def _axes(call: Call) -> tuple[Axis, Axis]:
    return conv_i8.spatial_axes(call, conv_i8.strides_of(call))


def group_count(call: Call) -> int:
    """Groups of the convolution."""
    return int(call.integer("group", 1))


class ConvMethods(KernelMethods):
    """What both kernels answer alike; `_gather` tells them apart."""

    _gather: ClassVar[bool]
    _prices: ClassVar[ConvWork]

    def accepts(self, call: Call) -> str | None:
        """What every integer convolution asks for."""
        return conv_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks, folded starts, requantisation; zero points for the edges where nothing is gathered."""
        call = operands.call
        weights, dtype = square(call)
        requantisation = requantise(proof(call)).constants
        h, w = _axes(call)
        return (
            Constant("w", dtype, packed(weights, call.integer("group", 1))),
            Constant("b", DType.I32, np.asarray(accumulator(call).start, np.int32)),
            *requantisation,
            *(conv_i8.pad_row(call, h, w, weights.shape[1], WIDTH) if not self._gather else ()),
        )

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The gap that the outermost loop leaves between the operand and the result."""
        numbers = self.context(operands)
        if numbers.groups.count != 1:
            return ()
        call = operands.call
        sizes = (numbers.groups.results, call.tensor(0).dtype.bits // 8, call.outputs[0].dtype.bits // 8)
        if self._gather or numbers.pointwise:
            steps = patch_steps(numbers.h, numbers.w, numbers.pixels, *sizes)
        else:
            steps = row_steps(numbers.h, numbers.w, *sizes)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=self._gather)),)

    def _work(self, call: Call) -> ConvWork:
        """The work of one call."""
        weights, _ = square(call)
        h, w = _axes(call)
        channels, taps, out, groups = (
            int(weights.shape[1]),
            h.kernel * w.kernel,
            int(weights.shape[0]),
            group_count(call),
        )
        results = h.out * w.out if self._gather else w.out
        pixels = pixels_at_once(results)
        places = -(-results // pixels) * (1 if self._gather else h.out)
        blocks = places * groups * -(-(out // groups) // WIDTH)
        products, depth = places * pixels * out * channels * taps, channels * taps
        loads = blocks * pixels * depth + places * out * depth
        tests = runs_of = copies = 0
        if self._gather:
            runs_of, copies = places * pixels * taps * groups, places * pixels * taps * channels * groups
        elif h.kernel * w.kernel > 1 or conv_i8.is_padded(h, w):
            inner = sum(
                run.count for run in runs(w, pixels, w.dilation == 1 and (groups == 1 or w.kernel == 1)) if run.inner
            )
            each = groups * -(-(out // groups) // WIDTH) * h.out
            runs_of = (inner * h.kernel + (-(-results // pixels) - inner) * taps) * each
            tests = (-(-results // pixels) - inner) * taps * each * pixels
        else:
            runs_of = blocks
        return ConvWork(
            products=products,
            loads=loads,
            results=places * pixels * out,
            blocks=blocks,
            runs=runs_of,
            tests=tests,
            copies=copies if channels % 4 else copies / 4,
        )

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return self._work(call).priced(self._prices)

    def context(self, operands: Operands) -> ConvContext:
        """The numbers of the block."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = _axes(call)
        groups = groups_of(call)
        depth = groups.weights // groups.results
        pixels = pixels_at_once(h.out * w.out if self._gather else w.out)
        return ConvContext(
            attribute=ATTRIBUTE if self._gather or h.kernel == 1 else f"{ATTRIBUTE}_NESTED",
            x_type=C_TYPES[x.dtype],
            w_type=C_TYPES[dtype],
            y_type=C_TYPES[y.dtype],
            h=h,
            w=w,
            groups=groups,
            depth=depth,
            pixels=pixels,
            blocks=channel_blocks(groups.results, depth, min(WIDTH, groups.results)),
            runs=runs(w, pixels, w.dilation == 1 and (groups.count == 1 or w.kernel == 1)),
            padded=conv_i8.is_padded(h, w),
            gather=self._gather,
            pointwise=not self._gather and conv_i8.is_pointwise(h, w),
            zero=x.quantisation.zero_point[0],
            requantise=scalars(call),
        )


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="conv_i8.c.mako", layout="channels_last", sources=["scalar.h", *ROUNDING],
    preference=30, requires=Needs(lacks=("rvv",)),
)  # fmt: skip
class ConvBlockI8(ConvMethods):
    """Integer convolution in register blocks of four pixels and four channels."""

    _gather = False
    _prices = BLOCK_PRICES


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="conv_i8.c.mako", layout="channels_last", sources=["scalar.h", *ROUNDING],
    preference=28, requires=Needs(lacks=("rvv",)),
)  # fmt: skip
class ConvGatherI8(ConvMethods):
    """Integer convolution in register blocks over the gathered windows of four pixels."""

    _gather = True
    _prices = GATHER_PRICES

    def accepts(self, call: Call) -> str | None:
        """Not many more instructions than without the copies."""
        if (refused := super().accepts(call)) is not None:
            return refused
        if self.cost(call) >= 1.25 * ConvBlockI8().cost(call):
            return "copying the windows costs a quarter more instructions"
        return None

    def cost(self, call: Call) -> float:
        """At least that of the block where windows are pixels, which lie side by side as they are."""
        own = super().cost(call)
        return max(own, ConvBlockI8().cost(call)) if conv_i8.is_pointwise(*_axes(call)) else own

    def scratch(self, operands: Operands) -> int:
        """The windows of the pixels of a block."""
        made = self.context(operands)
        return made.pixels * made.depth * operands.call.tensor(0).dtype.bits // 8
