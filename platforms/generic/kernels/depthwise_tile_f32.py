"""Float depthwise convolution on cores with thirty-two float registers: neighbouring results of one channel at a time.

The sums and a row of the channel's weights stay in registers; an input is loaded once for all results that it adds to.
Which rows and columns of the window lie outside the image is asked before the channels turn, so one function serves the
borders and the inside. Tiles are one row high, so that a result may closely follow the operand whose place it takes. A
platform of such cores registers the class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.numerics import plus, times
from tilewright.platform import Array, Call, Clamp, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack, not_by_channel
from tilewright.platforms.generic.kernels.blocks_f32 import in_blocks, starts
from tilewright.platforms.generic.kernels.conv_f32 import image_axes, spatial
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps

REGISTERS = 32
WIDEST = 8
"""Results of a tile, at most."""
INTEGERS = 12
"""Pointers, counters and tests that fit in sixteen integer registers."""
REACH = 1020
"""Bytes that every core's float loads and stores reach on both sides of a pointer."""
LARGEST = 49
"""Weights of a channel, at most."""
TILE = 40.0
"""Instructions of a tile beside its channels."""


@dataclass(frozen=True)
class Load:
    """Input `name` at `offset` elements from `pointer`, which adds to sums as (sum, weight); `test` is empty where it
    always lies inside."""

    name: str
    pointer: str
    offset: int
    test: str
    products: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """What a tile does with one row of its window where `test` holds, always where it is empty."""

    test: str
    weights: tuple[tuple[str, int], ...]
    loads: tuple[Load, ...]


@dataclass(frozen=True)
class Store:
    """Where a sum is written: `offset` elements from `pointer`."""

    total: str
    pointer: str
    offset: int


@dataclass(frozen=True)
class Pointer:
    """A pointer that turns over the channels, with its start as C."""

    name: str
    start: str
    readonly: bool


@dataclass(frozen=True)
class Tile:
    """`columns` neighbouring results: tests of borders (name, condition), pointers, rows of the window, results."""

    columns: int
    tests: tuple[tuple[str, str], ...]
    pointers: tuple[Pointer, ...]
    rows: tuple[Row, ...]
    stores: tuple[Store, ...]


@dataclass(frozen=True)
class TileContext:
    """Every number of one layer: steps from a channel to the next, and where its sums start.

    Constant weights of a channel lie behind its start, `per_channel` elements in all; others alone, beside a `bias`.
    `blocks` of so many channels are computed from copies of their planes, where there is more than one.
    """

    h: Axis
    w: Axis
    channels: int
    per_channel: int
    x_step: int
    y_step: int
    bias: bool
    start: str
    tile: Tile
    clamp: str
    blocks: int = 0


def test_of(at: str, index: int, lowest: int, highest: int, size: int) -> tuple[str, str]:
    """Name and condition that `at + index` lies inside, `at` between both ends; empty where it always does."""
    parts = []
    if lowest + index < 0:
        parts.append(f"{at} >= {-index}")
    if highest + index >= size:
        parts.append(f"{at} < {size - index}")
    return (f"{at}_{index}", " && ".join(parts)) if parts else ("", "")


def groups(offsets: Sequence[int]) -> list[list[int]]:
    """Sorted offsets in elements by pointers that reach them."""
    groups: list[list[int]] = []
    for offset in offsets:
        if groups and (offset - groups[-1][0]) * 4 <= 2 * REACH:
            groups[-1].append(offset)
        else:
            groups.append([offset])
    return groups


def tile_of(h: Axis, w: Axis, channels: int, columns: int, begin: int = 1) -> Tile:
    """The text of tiles of `columns` results, `channels` elements apart; weights begin at `begin`."""
    lefts = [min(at, w.out - columns) * w.stride - w.pad for at in range(0, w.out, columns)]
    window = {j * w.stride + kw * w.dilation for j in range(columns) for kw in range(w.kernel)}
    inputs = sorted(c for c in window if any(0 <= left + c < w.size for left in lefts))
    tests: dict[str, str] = {}
    pointers, rows = [], []
    for kh in range(h.kernel):
        name, condition = test_of("top", kh * h.dilation, -h.pad, (h.out - 1) * h.stride - h.pad, h.size)
        if name:
            tests[name] = condition
        loads = []
        row = f"({plus('top', kh * h.dilation)})" if kh else "top"
        for number, group in enumerate(groups([c * w.x_stride for c in inputs])):
            pointer, middle = f"x{kh}_{number}", group[len(group) // 2]
            start = plus(f"x + {times(row, h.x_stride)} + {times('left', w.x_stride)}", middle)
            pointers.append(Pointer(pointer, f"{name} ? {start} : x" if name else start, True))
            for offset in group:
                c = offset // w.x_stride
                inside, test = test_of("left", c, min(lefts), max(lefts), w.size)
                if inside:
                    tests[inside] = test
                places = [(j, *divmod(c - j * w.stride, w.dilation)) for j in range(columns)]
                taps = [(j, kw) for j, kw, rest in places if rest == 0 and 0 <= kw < w.kernel]
                products = tuple((f"s{j}", f"w{kw}") for j, kw in taps)
                loads.append(Load(f"v{c}", pointer, offset - middle, inside, products))
        used = sorted({int(weight[1:]) for load in loads for _, weight in load.products})
        own = tuple((f"w{kw}", begin + kh * w.kernel + kw) for kw in used)
        rows.append(Row(name, own, tuple(loads)))
    stores = []
    spot = f"({times('oh', w.out)} + ow)"
    for number, group in enumerate(groups([j * channels for j in range(columns)])):
        pointer, middle = f"y{number}", group[len(group) // 2]
        pointers.append(Pointer(pointer, plus(f"y + {times(spot, channels)}", middle), False))
        stores += [Store(f"s{offset // channels}", pointer, offset - middle) for offset in group]
    return Tile(columns, tuple(tests.items()), tuple(pointers), tuple(rows), tuple(stores))


def instructions(tile: Tile, clamp: Clamp | None) -> float:
    """Instructions of one tile of one channel."""
    ends = 0 if clamp is None else 2.5 * (math.isfinite(clamp.low) + math.isfinite(clamp.high))
    loads = [load for row in tile.rows for load in row.loads]
    products = sum(len(load.products) for load in loads)
    tests = sum(bool(row.test) for row in tile.rows) + 2 * sum(bool(load.test) for load in loads)
    weights = 1 + sum(len(row.weights) for row in tile.rows)
    lost = 2 * max(0, len(tile.pointers) + len(tile.tests) + 2 - INTEGERS)
    return len(loads) + products + tests + weights + tile.columns * (1 + ends) + len(tile.pointers) + lost + 3


def depthwise_axes(call: Call) -> tuple[Axis, Axis]:
    """Rows and columns of maps with channels innermost."""
    x = call.tensor(0)
    channels = x.shape[1]
    across = (channels,) if len(x.shape) == 3 else (x.shape[3] * channels, channels)
    h, w, _ = image_axes(call, (x.elements, 1, *across))
    return h, w


def chosen(call: Call) -> tuple[Axis, Axis, Tile, float]:
    """Both axes, the tile with the fewest instructions, and the instructions of all tiles."""
    (h, w), channels = depthwise_axes(call), call.shape(0)[1]
    tiles = [tile_of(h, w, channels, columns) for columns in range(1, widest(w) + 1)]
    cost, tile = cheapest(h, w, tiles, channels, call.node.clamp)
    return h, w, tile, cost


def widest(w: Axis) -> int:
    """Results of a tile whose sums fit in registers, at most."""
    return min(WIDEST, w.out, max(1, REGISTERS - w.kernel - 3))


def cheapest(h: Axis, w: Axis, tiles: Sequence[Tile], channels: int, clamp: Clamp | None) -> tuple[float, Tile]:
    """The instructions of all tiles of a layer, and the tile with the fewest."""
    priced = [
        (h.out * -(-w.out // tile.columns) * (instructions(tile, clamp) * channels + TILE), tile.columns, tile)
        for tile in tiles
    ]
    cost, _, tile = min(priced, key=lambda one: one[:2])
    return cost, tile


def by_channel(call: Call) -> Array:
    """[channel][1 + taps]: the start of each channel and its weights."""
    weights, _ = spatial(call)
    return in_blocks(weights.reshape(weights.shape[0], -1), starts(call, weights.shape[0]), 1)


class DepthwiseTileF32(KernelMethods):
    """Float depthwise convolution, neighbouring results of one channel in registers."""

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels, a window of at most 25 taps."""
        if (refused := not_by_channel(call) or cannot_repack(call)) is not None:
            return refused
        taps = call.constants[1][0].size
        return None if taps <= LARGEST else f"a window of {taps} taps, the kernel unrolls at most {LARGEST}"

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by channel."""
        return (Constant("w", DType.F32, by_channel(operands.call)),)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        h, w, _, _ = chosen(operands.call)
        steps = row_steps(h, w, operands.call.shape(0)[1], 4, 4)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=False)),)

    def cost(self, call: Call) -> float:
        """The tiles of all channels."""
        return chosen(call)[3]

    def context(self, operands: Operands) -> TileContext:
        """The text of the tile."""
        call = operands.call
        h, w, tile, _ = chosen(call)
        return TileContext(
            h=h,
            w=w,
            channels=call.shape(0)[1],
            per_channel=1 + h.kernel * w.kernel,
            x_step=1,
            y_step=1,
            bias=False,
            start="w[0]",
            tile=tile,
            clamp=rectified_text("v", call.node.clamp),
        )
