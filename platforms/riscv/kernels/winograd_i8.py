"""Integer 3x3 convolution of stride 1 by Winograd's F(2x2, 3x3), exact: 16 multiplications for 36.

The filter transform is scaled by two in each dimension, so that all numbers are integers of 16 bits and the sums are
four times the true ones. Weights take 3.6 times the flash of the direct form: `--optimize speed` only. 1.4 instead of
2.8 instructions per multiply-accumulate with gcc 12 for rv32imc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, accumulator, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.generic.kernels import conv_i8
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes
from tilewright.platforms.riscv.kernels.blocks_i8 import ATTRIBUTE, WIDTH, Scalars, scalars
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.platform import PLATFORM


@dataclass(frozen=True)
class WinogradWork(Work):
    """Products; tiles of each output channel; transformed inputs of tiles."""

    products: float
    tiles: float
    inputs: float


FILTER = np.asarray([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
PRICES = WinogradWork(products=2.62, tiles=239.0, inputs=0.0)
"""Instructions for one unit of each kind of work."""
TILES = 4
"""Neighbouring tiles of 2x2 results that are computed at once."""


@dataclass(frozen=True)
class WinogradContext:
    """Every number of one layer; weights lie [block of four channels][position][ic][4]."""

    attribute: str
    x_type: str
    y_type: str
    h: Axis
    w: Axis
    channels: int
    out_channels: int
    tiles: int
    zero: int
    requantise: Scalars


def transformed(weights: Array) -> Array:
    """[OC, IC, 3, 3] to [OC/4][16][IC][4] in sixteen bits."""
    full = np.einsum("ij,ocjk,lk->ocil", FILTER, weights.astype(np.int64), FILTER)
    blocks = full.reshape(full.shape[0] // WIDTH, WIDTH, full.shape[1], 16)
    return np.ascontiguousarray(blocks.transpose(0, 3, 2, 1)).astype(np.int16).reshape(-1)


def work(call: Call) -> WinogradWork:
    """The work of one call."""
    y, channels = call.outputs[0], call.shape(0)[1]
    blocks = y.shape[2] // 2 * -(-(y.shape[3] // 2) // TILES)
    return WinogradWork(
        products=blocks * TILES * y.shape[1] * 16 * channels,
        tiles=blocks * TILES * y.shape[1],
        inputs=blocks * TILES * channels,
    )


@PLATFORM.kernel(
    "Conv", types="qi8|qu8, qi8|qu8|qi4|qu4, i32|i64? -> qi8|qu8", template="winograd_i8.c.mako",
    layout="channels_last", sources=["scalar.h", *ROUNDING], preference=33,
    requires=Needs(lacks=("rvv",), optimize="speed"),
)  # fmt: skip
class WinogradBlockI8(KernelMethods):
    """Exact Winograd convolution in register blocks of four tiles and four channels."""

    def accepts(self, call: Call) -> str | None:
        """A 3x3 window of stride 1, channels in fours, an even number of rows and columns, four tiles in a row."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        if (h.kernel, w.kernel, h.stride, w.stride, h.dilation, w.dilation) != (3, 3, 1, 1, 1, 1):
            return "the window is not 3x3 of stride 1"
        weights, dtype = square(call)
        if call.integer("group", 1) != 1 or weights.shape[0] % WIDTH or weights.shape[1] % WIDTH:
            return f"the kernel takes one group, and channels in {WIDTH}s"
        if dtype is not DType.I8:
            return "the weights minus their zero point need more than eight bits"
        if h.out % 2 or w.out % 2 or w.out < 2 * TILES:
            return f"the results are {h.out} x {w.out}, the kernel takes even numbers and {2 * TILES} columns or more"
        if 4 * accumulator(call).bounds.largest >= 1 << 31:
            return "sums times four leave 32 bits"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Transformed weights, folded starts, requantisation."""
        call = operands.call
        weights, _ = square(call)
        requantisation = requantise(proof(call)).constants
        start = np.asarray(accumulator(call).start, np.int32)
        return (Constant("w", DType.I16, transformed(weights)), Constant("b", DType.I32, start), *requantisation)

    def scratch(self, operands: Operands) -> int:
        """Sixteen positions of four tiles, transformed and as sums for four channels; the codes of one tile."""
        channels = operands.call.shape(0)[1]
        return 16 * TILES * channels * 2 + 16 * TILES * WIDTH * 4 + 16 * channels

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Two rows of results are written after all that later ones read."""
        call = operands.call
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        rows = np.arange(0, h.out, 2, dtype=np.int64)
        write_end = (rows + 2) * w.out * call.outputs[0].shape[1]
        read_first = np.maximum(0, rows - h.pad) * h.x_stride
        return ((0, 0, gap_bytes(write_end, read_first, reads_before_writing=False)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> WinogradContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        return WinogradContext(
            attribute=ATTRIBUTE, x_type=C_TYPES[x.dtype], y_type=C_TYPES[y.dtype], h=h, w=w, channels=x.shape[1],
            out_channels=y.shape[1], tiles=w.out // 2, zero=x.quantisation.zero_point[0], requantise=scalars(call),
        )  # fmt: skip
