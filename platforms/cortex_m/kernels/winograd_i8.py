"""Integer 3x3 convolution of stride 1 by Winograd's F(2x2, 3x3), exact: 16 multiplications for 36.

The filter transform is scaled by two in each dimension, so that all numbers are integers of 16 bits and the sums are
four times the true ones; they wrap in between, which is harmless modulo 2**32. The requantisation takes two more bits
of shift. Weights take 3.6 times the flash of the direct form: `--optimize speed` only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import conv_i8, matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes


@dataclass(frozen=True)
class WinogradWork(Work):
    """For four tiles at a time: steps of pairs of inputs, pairs of channels, inputs; words of transformed rows."""

    steps: float
    channel_pairs: float
    inputs: float
    row_words: float


FILTER = np.asarray([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
PRICES = WinogradWork(steps=11.2, channel_pairs=794.0, inputs=129.0, row_words=0.0)
"""Instructions for one unit of each kind of work."""
TILES = 4
"""Tiles whose transformed inputs are held at once."""
MOST_INPUTS = 64
"""Input channels up to which the sums are unrolled."""


@dataclass(frozen=True)
class WinogradContext:
    """Every number of one layer; `tile_rows` x `tile_columns` tiles of 2x2 results, `columns` of transformed input."""

    x_type: str
    unsigned: bool
    h: Axis
    w: Axis
    channels: int
    out_channels: int
    tile_rows: int
    tile_columns: int
    columns: int
    zero_point: int


def transformed(call: Call) -> Array:
    """Weights [OC/2][16][pair of inputs][channel of the pair][2] in 16 bits, as uint32 words."""
    weights, _ = portable.weights_of(call)
    full: Array = np.einsum("ij,ocjk,lk->ocil", FILTER, weights.astype(np.int64), FILTER)
    channels = full.shape[1]
    flat = full.reshape(full.shape[0], channels // 4, 4, 16)[:, :, list(matrix_i8.ORDER)]
    split = flat.reshape(full.shape[0] // 2, 2, channels // 2, 2, 16).transpose(0, 4, 2, 1, 3)
    halves: Array = np.bitwise_and(split.astype(np.int64), 0xFFFF)
    return np.asarray(halves[..., 0] | halves[..., 1] << 16, np.uint32).reshape(-1)


def work(call: Call) -> WinogradWork:
    """The work of one call."""
    tile_rows, tile_columns, columns = tiles_of(call)
    blocks, channels = tile_rows * -(-tile_columns // TILES), call.shape(0)[1]
    pairs = call.outputs[0].shape[1] / 2
    words = tile_rows * columns * channels / 4
    return WinogradWork(
        steps=blocks * pairs * 8 * channels, channel_pairs=blocks * pairs, inputs=blocks * channels, row_words=words
    )


def tiles_of(call: Call) -> tuple[int, int, int]:
    """Rows and columns of tiles, columns of transformed input; at least four tiles in a row."""
    h, w = matrix_i8.axes_of(call)
    tile_columns = max((w.out + 1) // 2, TILES)
    return (h.out + 1) // 2, tile_columns, 2 * tile_columns + 2


@PLATFORM.kernel(
    "Conv", types="qi8|qu8, qi8|qu8|qi4|qu4, i32? -> qi8", template="winograd_i8.c.mako", layout="channels_last",
    sources=["dsp.h", "winograd_i8.h"], preference=35, requires=Needs(has=("dsp",), optimize="speed"),
)  # fmt: skip
class WinogradDsp(KernelMethods):
    """Exact Winograd convolution: four tiles by two channels of dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """A 3x3 window of stride 1, channels in fours, pairs of results, room for two more bits."""
        if (why := conv_i8.accepts(call)) is not None:
            return why
        h, w = matrix_i8.axes_of(call)
        if (h.kernel, w.kernel, h.stride, w.stride, h.dilation, w.dilation) != (3, 3, 1, 1, 1, 1):
            return "the window is not 3x3 of stride 1"
        channels, out_channels = call.shape(0)[1], call.outputs[0].shape[1]
        if channels % 4 or channels > MOST_INPUTS or out_channels % 2:
            return f"the kernel takes input channels in fours up to {MOST_INPUTS}, and pairs of output channels"
        if min(h.out, w.out) < 2:
            return "there is no tile of 2x2 results"
        fixed = matrix_i8.fixed_point(call)
        if matrix_i8.is_own(call) or (fixed.low, fixed.high) != (-128, 127):
            return "the kernel saturates, with one shift for all channels"
        largest = matrix_i8.largest_sum(call)
        word = 4 * (largest * max(fixed.multiplier.values) >> 32) + 4 * abs(fixed.addend.values[0]) + 8
        return "sums times four leave 32 bits" if max(4 * largest, word) >= 1 << 31 else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Transformed weights; starts times four and multipliers of pairs; codes."""
        call = operands.call
        channels = call.outputs[0].shape[1]
        table = matrix_i8.channel_table(call, channels).astype(np.int64) * np.asarray([4, 1], np.int64)
        return (
            Constant("w", DType.U32, transformed(call)),
            Constant("table", DType.I32, (table.reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)),
            matrix_i8.codes_constant(call),
        )

    def scratch(self, operands: Operands) -> int:
        """Four transformed rows, sixteen transformed positions of four tiles, and their sums."""
        channels = operands.call.shape(0)[1]
        *_, columns = tiles_of(operands.call)
        return 4 * columns * channels * 2 + 16 * channels * TILES * 2 + 16 * TILES * 2 * 4

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Two rows of results are written after the four rows that they need were transformed."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        rows = np.arange(0, h.out, 2, dtype=np.int64)
        write_end = np.minimum(rows + 2, h.out) * w.out * call.outputs[0].shape[1]
        read_first = np.maximum(0, rows - h.pad) * h.x_stride
        return ((0, 0, gap_bytes(write_end, read_first, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> WinogradContext:
        """The numbers of the layer."""
        call = operands.call
        x = call.tensor(0)
        assert x.quantisation is not None
        h, w = matrix_i8.axes_of(call)
        tile_rows, tile_columns, columns = tiles_of(call)
        return WinogradContext(
            x_type=C_TYPES[x.dtype],
            unsigned=x.dtype is DType.U8,
            h=h,
            w=w,
            channels=x.shape[1],
            out_channels=call.outputs[0].shape[1],
            tile_rows=tile_rows,
            tile_columns=tile_columns,
            columns=columns,
            zero_point=x.quantisation.zero_point[0],
        )
