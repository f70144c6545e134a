"""Layers as jobs of N-EUREKA: what it takes, its weights and numbers, and what the cores do with its sums.

A job computes six rows of at most 32 output channels (28 where channels stay apart). Its results are sums of 32 bits
with the bias in them; the unit's own way to eight bits has too few for the requantisations that are proved here. Two
jobs' sums have room in scratch, so the unit computes one job while the cores make codes of the one before.

Padding counts as zero codes. Where the zero point is another one, sums at an edge lack the zero point times the weights
that reach over it, and the cores add that: the unit's own padding value is not right at every right and lower edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.numerics import C_TYPES, Accumulator, MultiplyHigh, accumulator, proof, requantise, the_quantisation
from tilewright.operators import remembered
from tilewright.platform import Array, Call, Constant, DType
from tilewright.platforms.pulp.kernels.block_asm import Streamed
from tilewright.platforms.siracusa.kernels.codes_asm import listing
from tilewright.platforms.siracusa.kernels.packing import Mode, bits_of, pack
from tilewright.platforms.siracusa.kernels.timing import SIDE, job_cycles, tile_cycles
from tilewright.platforms.siracusa.memory import WEIGHTS

CORES = "../../pulp/kernels/"
SOURCES = ("neureka.h", CORES + "tiles.h", CORES + "xpulp.h")
TILE = "tilewright_neureka_tile"
TEMPLATE = "neureka.c.mako"
EDGES = 9
"""Places of a pixel: upper edge, between, lower edge, times left edge, between, right edge."""


@dataclass(frozen=True)
class Layer:
    """A layer as the unit sees it: `weights` [output channel, tap, input channel], depthwise [channel, tap, 1].

    A dense layer is a 1x1 convolution. `tops`, `lefts`, `bottoms` and `rights` say where there is padding.
    """

    mode: Mode
    weights: Array
    stride: int = 1
    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0

    @property
    def ins(self) -> int:
        """Input channels of one pixel; one that stays apart has as many as there are in a tile."""
        return int(self.weights.shape[2])

    @property
    def bits(self) -> int:
        """Bits of a stored weight."""
        return bits_of(self.weights, self.mode)

    @property
    def padded(self) -> bool:
        """True where a window reaches over an edge."""
        return bool(self.top or self.left or self.bottom or self.right)

    @property
    def step(self) -> int:
        """Sums from one result to the next: a 3x3 layer of stride two is computed at stride one."""
        return 1 if self.mode is Mode.ONE else self.stride

    def computed(self, results: Any) -> Any:
        """Rows or columns of sums for so many of results."""
        return (results - 1) * self.step + 1


@dataclass(frozen=True)
class JobContext:
    """What the template prints. `edges`: sums at an edge lack something that lies in the constant of that name."""

    source: str
    y_type: str
    layer: Layer
    depth: int
    words: int
    requantise: Streamed
    edges: bool
    signed: bool
    weight_words: tuple[int, int]
    texts: tuple[tuple[str, str], ...]

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
def requantise_of(call: Call) -> Streamed:
    """The requantisation, remembered as the tiler asks often."""
    form = requantise(proof(call))
    assert isinstance(form, MultiplyHigh), "asked of a layer that was refused"
    return Streamed(form)


def constants(call: Call, layer: Layer, loop: str) -> tuple[Constant, ...]:
    """Packed weights in the weight memory; scales of one, biases, numbers of the requantisation, what edges lack."""
    channels, total = layer.weights.shape[0], accumulator(call)
    bias = np.broadcast_to(total.start, (channels,)).astype(np.int32)
    behind = requantise_of(call).columns(channels)
    held = [
        Constant("w", DType.U8, pack(layer.weights, layer.mode), align=32, level=WEIGHTS),
        Constant("scale", DType.U8, np.ones(channels, np.uint8), along=(loop,)),
        Constant("bias", DType.I32, bias, along=(loop,)),
        Constant("form", DType.I32, behind.reshape(-1), along=(loop,)),
    ]
    if has_edges(call, layer):
        held.append(Constant("edge", DType.I32, _edges(call, layer, total).reshape(-1), along=(loop,)))
    return tuple(held)


def has_edges(call: Call, layer: Layer) -> bool:
    """True where sums at an edge lack something."""
    return layer.padded and bool(the_quantisation(call.tensor(0)).zero_point[0])


def _edges(call: Call, layer: Layer, total: Accumulator) -> Array:
    """[channel, place]: the zero point times the weights over the edge, which the start of every sum has taken off."""
    zero = the_quantisation(call.tensor(0)).zero_point[0]
    taps = layer.weights.astype(np.int64).sum(axis=2).reshape(-1, 3, 3)
    over = np.zeros((taps.shape[0], 3, 3), np.int64)
    for row, rows in enumerate((slice(0, 1), slice(0, 0), slice(2, 3))):
        for column, columns in enumerate((slice(0, 1), slice(0, 0), slice(2, 3))):
            both = taps[:, rows, columns].sum(axis=(1, 2))
            over[:, row, column] = taps[:, rows].sum(axis=(1, 2)) + taps[:, :, columns].sum(axis=(1, 2)) - both
    return (over * zero).astype(np.int32)


def context(call: Call, layer: Layer, depth: int, source: str) -> JobContext:
    """Everything that the template prints; `source` is the name of the first operand."""
    x, y, streamed = call.tensor(0), call.outputs[0], requantise_of(call)
    blocks = 1 if layer.mode is Mode.APART else -(-depth // layer.mode.ins)
    planes = 1 if layer.mode is Mode.ONE else layer.bits
    apart = layer.mode is Mode.APART
    edges = has_edges(call, layer)
    texts = [("inner", listing(streamed, 0).text("        "))]
    texts += [("edge", listing(streamed, EDGES).text("        "))] if edges else []
    return JobContext(
        source, C_TYPES[y.dtype], layer, depth, streamed.words, streamed, edges, x.dtype is DType.I8,
        (32 * planes * (1 if apart else blocks), 0 if apart else 32 * planes * blocks), tuple(texts),
    )  # fmt: skip


def sums_bytes(layer: Layer, rows: Any, columns: Any, channels: Any) -> Any:
    """Bytes of the sums of two jobs."""
    high = np.minimum(layer.computed(rows), SIDE)
    return 2 * 4 * high * layer.computed(columns) * np.minimum(channels, layer.mode.outs)


def cycles(call: Call, layer: Layer, rows: Any, columns: Any, channels: Any) -> Any:
    """Modelled cycles of a tile of so many results."""
    high, wide = layer.computed(rows), layer.computed(columns)
    lines, groups = -(-high // SIDE), -(-channels // layer.mode.outs)
    mean_rows, mean_outs = high / lines, channels / groups
    jobs = lines * groups
    one = job_cycles(layer.mode, mean_rows, wide, mean_outs, layer.ins, layer.bits)
    fours = np.maximum(1, mean_outs / 4 / 8)  # groups of channels of one core
    runs = groups * rows * 3 * fours if has_edges(call, layer) else 0
    return tile_cycles(jobs, jobs * one, rows * columns * channels, runs)


def tile_numbers(sizes: Mapping[str, int], channels: int, first: int) -> Mapping[str, int]:
    """The members of the tile's struct from those of a convolution's."""
    names = ("rows", "columns", "in_rows", "in_columns", "top", "left")
    return {**{name: sizes[name] for name in names[:2]}, "channels": channels, "first": first,
            **{name: sizes[name] for name in names[2:]}}  # fmt: skip
