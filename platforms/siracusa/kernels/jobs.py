"""Layers as jobs of N-EUREKA: what it takes, its weights and numbers, and what the cores do with its sums.

A job computes some rows of at most 32 output channels (28 where channels stay apart). Its results are sums of 32 bits
with the bias in them; the unit's own way to eight bits has too few for the requantisations that are proved here. Two
jobs' sums have room in scratch, so the unit computes one job while the cores make codes of the one before.

Padding is codes of the input's zero point, which the unit is given as a value. It takes the value only where the square
of eight by eight inputs reaches, counted from its end, and only what it was told to read: else it takes zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    SHIFTS,
    MultiplyHigh,
    SplitMultiply,
    accumulator,
    proof,
    requantise,
    split_multiply,
    the_quantisation,
)
from tilewright.operators import remembered
from tilewright.platform import Array, Call, Constant, DType, JobTimes
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.siracusa.kernels.codes_asm import Coding, listing
from tilewright.platforms.siracusa.kernels.packing import WORD_BYTES, Mode, bits_of, pack
from tilewright.platforms.siracusa.kernels.timing import SIDE, job_times, line_cycles, tile_cycles
from tilewright.platforms.siracusa.memory import WEIGHTS

SHARED = "../../pulp/kernels/"
SHARES, SHARE_BYTES = 8, 32
"""What the cores are told of jobs: four of a layer, four of the one before; with pointers of eight bytes."""
JOB_SUMS = 4608
"""Sums of a job, as long as they are more than six rows of the channels that are computed at once."""
PARTS = (1, 2, 3, 4, 6, 8)
"""Into how many jobs the rows of a tile may be parted."""
SOURCES = (SHIFTS, SHARED + "tiles.h", SHARED + "xpulp.h", "neureka.h")
TILE = "tilewright_neureka_tile"
TEMPLATE = "neureka.c.mako"


@dataclass(frozen=True)
class Layer:
    """A layer as the unit sees it: `weights` [output channel, tap, input channel], depthwise [channel, tap, 1].

    A dense layer is a 1x1 convolution. With `pairs` a pixel is two columns of the input, and windows go on by one.
    """

    mode: Mode
    weights: Array
    stride: int = 1
    pairs: bool = False

    @property
    def ins(self) -> int:
        """Input channels of one pixel; one that stays apart has as many as there are in a tile."""
        return int(self.weights.shape[2])

    @property
    def bits(self) -> int:
        """Bits of a stored weight."""
        return bits_of(self.weights, self.mode)

    @property
    def row_step(self) -> int:
        """Rows of sums from one result to the next: a 3x3 layer of stride two is computed at stride one."""
        return 1 if self.mode is Mode.ONE else self.stride

    @property
    def column_step(self) -> int:
        """Columns of sums from one result to the next; of pairs every one is a result."""
        return 1 if self.pairs else self.row_step

    def high(self, rows: Any) -> Any:
        """Rows of sums for so many of results."""
        return (rows - 1) * self.row_step + 1

    def wide(self, columns: Any) -> Any:
        """Columns of sums for so many of results."""
        return (columns - 1) * self.column_step + 1


@dataclass(frozen=True)
class JobContext:
    """What the template prints. `zero` is the byte that padding counts as."""

    source: str
    y_type: str
    layer: Layer
    words: int
    coding: Coding
    zero: int
    signed: bool
    weight_bytes: int
    text: str

    @property
    def mode(self) -> int:
        """The bits of the last word of a job that are alike for all of them.

        Weights of so many bits from the weight memory, scales of eight bits, the bias, sums of 32 bits.
        """
        layer = self.layer
        return layer.bits - 1 | 1 << 4 | layer.mode << 5 | 1 << 9 | 2 << 21 | 1 << 23 | 1 << 25 | self.signed << 26


def refusal(call: Call, weights: DType) -> str | None:
    """None, or the sentence why the unit or its codes cannot be had for a call."""
    if weights is not DType.I8:
        return "the weights minus their zero point need more than eight bits"
    if proof(call).fixed is None:
        return "the requantisation has no 32-bit form"
    return None


@remembered
def coding_of(call: Call) -> Coding:
    """How codes are made of sums, remembered as the tiler asks often."""
    shown = proof(call)
    form = split_multiply(shown) or requantise(shown)
    assert isinstance(form, MultiplyHigh | SplitMultiply), "asked of a layer that was refused"
    return Coding(form)


def constants(call: Call, layer: Layer, loop: str) -> tuple[Constant, ...]:
    """Packed weights in the weight memory; scales of one, biases, numbers of the requantisation."""
    channels, total = layer.weights.shape[0], accumulator(call)
    bias = np.broadcast_to(total.start, (channels,)).astype(np.int32)
    behind = coding_of(call).columns(channels)
    return (
        Constant("w", DType.U8, pack(layer.weights, layer.mode), align=32, level=WEIGHTS),
        Constant("scale", DType.U8, np.ones(channels, np.uint8), along=(loop,)),
        Constant("bias", DType.I32, bias, along=(loop,)),
        Constant("form", DType.I32, behind.reshape(-1), along=(loop,)),
    )


def context(call: Call, layer: Layer, source: str) -> JobContext:
    """Everything that the template prints; `source` is the name of the first operand."""
    x, y, coding = call.tensor(0), call.outputs[0], coding_of(call)
    blocks = -(-layer.ins // layer.mode.ins)
    planes = 1 if layer.mode is Mode.ONE else layer.bits
    zero = int(the_quantisation(x).zero_point[0]) & 0xFF
    return JobContext(
        source, C_TYPES[y.dtype], layer, len(coding.numbers), coding, zero, x.dtype is DType.I8,
        WORD_BYTES * planes * blocks,
        listing(coding).text("        "),
    )  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Rows of sums and output channels of a job of a tile, how many jobs, and modelled cycles: of the tile, of the
    engine alone, and of the cores for codes alone. Integers or arrays."""

    rows: Any
    outs: Any
    jobs: Any
    cycles: Any
    engine: Any
    codes: Any


def job_shape(call: Call, layer: Layer, rows: Any, columns: Any, channels: Any) -> Shape:
    """The jobs of a tile of so many results that take the fewest modelled cycles.

    Each is some sixes of rows, of all output channels, half of them, or as many as are computed at once. Jobs are alike
    but for the last; where they are few, little runs side by side, and where they are many the cores wait for each.
    """
    high, wide, codes = layer.high(rows), layer.wide(columns), rows * columns * channels
    lines, blocks = -(-high // SIDE), -(-channels // layer.mode.outs)
    line = line_cycles(layer.mode, high / lines, wide, channels / blocks, layer.ins, layer.bits)
    engine, work = lines * blocks * line, codes * coding_of(call).cycles / CORES
    least, jobs = np.minimum(channels, layer.mode.outs), lines * blocks
    best = (SIDE, least, jobs, tile_cycles(jobs, engine, work))
    half = np.minimum(channels, layer.mode.outs * -(-blocks // 2))
    for outs in (least, half, channels):
        groups = -(-channels // outs)
        for parts in PARTS:
            job_rows = SIDE * -(-lines // parts)
            jobs = groups * -(-high // job_rows)
            cycles = tile_cycles(jobs, engine, work)
            better = (cycles < best[-1]) & (np.minimum(high, job_rows) * wide * outs <= JOB_SUMS)
            pairs = zip((job_rows, outs, jobs, cycles), best, strict=True)
            best = tuple(np.where(better, ours, other) for ours, other in pairs)
    return Shape(*best, engine, work)


def sums_bytes(call: Call, layer: Layer, rows: Any, columns: Any, channels: Any) -> Any:
    """Bytes of the sums of two jobs, and of what the cores are told of eight."""
    shape = job_shape(call, layer, rows, columns, channels)
    high = np.minimum(layer.high(rows), shape.rows)
    return SHARES * SHARE_BYTES + 2 * 4 * high * layer.wide(columns) * shape.outs


def cycles(call: Call, layer: Layer, rows: Any, columns: Any, channels: Any) -> Any:
    """Modelled cycles of a tile of so many results."""
    return job_shape(call, layer, rows, columns, channels).cycles


def times(call: Call, layer: Layer, rows: int, columns: int, channels: int) -> JobTimes:
    """The jobs of a tile of so many results, one by one."""
    shape = job_shape(call, layer, rows, columns, channels)
    return job_times(int(shape.jobs), float(shape.engine), float(shape.codes))


def tile_numbers(
    call: Call, layer: Layer, sizes: Mapping[str, int], channels: int, first: int, stage: int
) -> Mapping[str, int]:
    """The members of the tile's struct from those of a convolution's."""
    names = ("rows", "columns", "in_rows", "in_columns", "top", "left")
    shape = job_shape(call, layer, sizes["rows"], sizes["columns"], channels)
    groups = -(-channels // int(shape.outs))
    wide = {"in_columns": sizes["in_columns"] // 2} if layer.pairs else {}
    return {**{name: sizes[name] for name in names[:2]}, "channels": channels, "first": first,
            **{name: sizes[name] for name in names[2:]}, **wide, "job_rows": int(shape.rows),
            "job_channels": int(shape.outs), "groups": groups, "jobs": int(shape.jobs),
            "shares": SHARES // 2 * (stage % 2)}  # fmt: skip
