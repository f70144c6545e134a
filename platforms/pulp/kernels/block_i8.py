"""Integer Conv, Gemm and MatMul by blocks of pixels times four channels, with Xpulp or in portable C."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from tilewright.numerics import C_TYPES, Accumulator, MultiplyHigh, accumulator, proof, requantise, the_quantisation
from tilewright.operators import remembered
from tilewright.platform import Array, Call, Constant, DType
from tilewright.platforms.pulp.kernels.block_asm import LARGEST_OFFSET, Geometry, Streamed, listing
from tilewright.platforms.pulp.kernels.block_window import Window
from tilewright.platforms.pulp.kernels.windows import CORES

WIDTH = 4
PIXELS = 4
MOST_TAPS = 5
LARGEST_SCRATCH = 4096
BLOCK_PARTS = 16
LARGEST_PACKED = 8192
MOST_EDGES, DIGITS = 2, 10
"""Ways to miss columns beside the usual ones that blocks of their own are printed for."""


@dataclass(frozen=True)
class Plan:
    """How a layer is computed: `pixels` at once, straight from the tile or gathered into one run per pixel first."""

    window: Window
    pixels: int
    gathered: bool
    geometry: Geometry
    tops: int
    bottoms: int
    packed: bool

    @property
    def run(self) -> int:
        """Bytes of a gathered pixel."""
        return self.geometry.depth

    @property
    def scratch_bytes(self) -> int:
        """Bytes that all cores gather into."""
        return CORES * (self.pixels * self.run if self.gathered else self.packed_bytes if self.packed else 0)

    @property
    def packed_bytes(self) -> int:
        """Bytes of one pixel's window, of four channels where they stay apart."""
        return self.window.kernel[0] * self.row_bytes

    def edges(self, pixels: int) -> list[tuple[int, int]]:
        """Missing columns at the left and right that blocks of so many pixels are printed for."""
        left, right = self.window.begins[1], max(0, self.window.ends[1])
        usual = [(0, 0), *([(left, 0)] if left else []), *([(0, right)] if right else [])]
        if self.gathered or self.window.flat:
            return [(0, 0)]
        others = [edge for edge in self._occurring(pixels, self.window.signal) if edge not in usual]
        edges = usual if len(others) > MOST_EDGES else [*usual, *others]
        return [edge for edge in edges if sum(edge) < self.geometry.reach(pixels)]

    @cached_property
    def left_over(self) -> int:
        """Pixels of a row in blocks that no statement is printed for."""
        return sum(
            pixels * count
            for pixels in {self.pixels, 1}
            for edge, count in self._occurring(pixels, False).items()
            if edge not in self.edges(pixels)
        )

    def covers(self, pixels: int) -> bool:
        """True where statements are printed for all blocks of so many pixels, however tiles are cut."""
        known = self.edges(pixels)
        return self.gathered or all(edge in known for edge in self._occurring(pixels, self.window.signal))

    def _occurring(self, pixels: int, anywhere: bool) -> dict[tuple[int, int], int]:
        starts = self.window.starts(pixels, self.pixels, anywhere)
        return dict(Counter(self.window.edge(start, pixels) for start in starts))

    @property
    def row_bytes(self) -> int:
        """Bytes of weights per row of taps and output channel."""
        return self.geometry.taps * self.geometry.depth

    @property
    def rows(self) -> int:
        """Rows of taps."""
        return 1 if self.gathered else self.window.kernel[0]

    @property
    def channel_bytes(self) -> int:
        """Bytes of the stream per output channel."""
        return 4 * (self.geometry.starts + self.geometry.requantise.words) + self.rows * self.row_bytes


@dataclass(frozen=True)
class Variant:
    """One asm statement: so many pixels and channels, so many columns of its reach left out on either side; `packed`
    reads a window whose taps lie side by side."""

    pixels: int
    channels: int
    left: int
    right: int
    text: str
    kind: str = ""

    @property
    def name(self) -> str:
        """The end of its function's name."""
        edge = f"{self.left}{self.right}" if max(self.left, self.right) < DIGITS else f"{self.left}_{self.right}"
        return f"{self.pixels}x{self.channels}_{self.kind or edge}"


@dataclass(frozen=True)
class Run:
    """Bytes that lie side by side and are gathered as words: groups of (offset, load, store)."""

    bytes: int

    @property
    def moves(self) -> tuple[tuple[tuple[int, str, str], ...], ...]:
        """At most four loads, then their stores."""
        single = [(at, "lw", "sw") for at in range(0, self.bytes - 3, 4)]
        single += [(at, "lbu", "sb") for at in range(self.bytes // 4 * 4, self.bytes)]
        return tuple(tuple(single[at : at + 4]) for at in range(0, len(single), 4))


@dataclass(frozen=True)
class BlockContext:
    """What the template prints. Of sixteen parts of a block's work each row of taps makes `row_share`; a block of one
    pixel makes `pixel_share`."""

    x_type: str
    y_type: str
    plan: Plan
    variants: tuple[Variant, ...]
    packed: tuple[Variant, ...]
    covered: bool
    reach: int
    reach_one: int
    zero_point: int
    source: str
    run: Run | None
    row_share: int
    pixel_share: int


def refusal(window: Window, call: Call, weights: DType, apart: bool = False) -> str | None:
    """None, or the sentence why the blocks cannot compute the layer."""
    if weights is not DType.I8:
        return "the weights minus their zero point need more than eight bits"
    if proof(call).fixed is None:
        return "the requantisation has no 32-bit form"
    if not apart and not _way(window)[0]:
        return f"{window.taps} input bytes of a result are more than the cores can gather"
    return None


def _way(window: Window) -> tuple[int, bool]:
    """(pixels at once, whether they are gathered); no pixels where neither way is open."""
    if window.depth % 4 == 0 and window.kernel[1] <= MOST_TAPS:
        for pixels in (PIXELS, 1):
            reach = (pixels - 1) * window.strides[1] + (window.kernel[1] - 1) * window.dilations[1]
            if reach * window.depth <= LARGEST_OFFSET:
                return pixels, False
    run = -(-window.taps // 4) * 4
    for pixels in (PIXELS, 1):
        if CORES * pixels * run <= LARGEST_SCRATCH and (pixels - 1) * run <= LARGEST_OFFSET:
            return pixels, True
    return 0, True


def plan_of(window: Window, call: Call, apart: bool = False) -> Plan:
    """How the layer is computed; `apart` where every channel is a group of its own."""
    pixels, gathered = (PIXELS, False) if apart else _way(window)
    assert pixels, "asked of a layer that was refused"
    x = call.tensor(0)
    zero = the_quantisation(x).zero_point[0]
    tops = bottoms = 0
    if not gathered:
        tops, bottoms = (-(-pad // window.dilations[0]) for pad in (window.begins[0], window.ends[0]))
    geometry = Geometry(
        depth=-(-window.taps // 4) * 4 if gathered else WIDTH if apart else window.depth,
        taps=1 if gathered else window.kernel[1],
        stride=1 if gathered else window.strides[1],
        dilation=1 if gathered else window.dilations[1],
        many_rows=not gathered and window.kernel[0] > 1,
        zero_point=zero,
        unsigned=x.dtype is DType.U8,
        starts=(tops + 1) * (bottoms + 1) if zero else 1,
        padded_rows=tops + bottoms > 0,
        requantise=requantise_of(call),
        apart=apart,
    )
    plan = Plan(window, pixels, gathered, geometry, tops, bottoms, False)
    if CORES * plan.packed_bytes > LARGEST_PACKED:
        return plan
    return replace(plan, packed=not all(plan.covers(count) for count in {pixels, 1}))


@remembered
def requantise_of(call: Call) -> Streamed:
    """The layer's requantisation; remembered, since the tiler asks for the cycles of one layer many times."""
    form = requantise(proof(call))
    assert isinstance(form, MultiplyHigh), "asked of a layer that was refused"
    return Streamed(form)


def stream(plan: Plan, call: Call, weights: Array, loop: str) -> Constant:
    """The weights [output channel, kh, kw, input channel] as the blocks read them, cut along a loop or not.

    Where channels stay apart, the last four are a group whether the others fill whole groups or not.
    """
    channels = weights.shape[0]
    total = accumulator(call)
    rows = weights.reshape(channels, plan.rows, -1)
    if plan.gathered:
        rows = np.pad(rows, ((0, 0), (0, 0), (0, plan.run - rows.shape[2])))
    starts = _starts(plan, total, rows, channels)
    behind = plan.geometry.requantise.columns(channels)
    taps, apart = plan.geometry.taps, plan.geometry.apart
    if apart:
        rows = rows[..., None]
    # [channel, row, tap, word] -> [row, word, tap, channel]
    parts = []
    for first in range(0, channels, WIDTH):
        some = slice(channels - WIDTH if apart and first + WIDTH > channels else first, first + WIDTH)
        own = rows[some] * np.eye(WIDTH, dtype=np.int64)[:, None, None, :] if apart else rows[some]
        words = np.ascontiguousarray(own.reshape(len(own), plan.rows, taps, -1).astype(np.int8)).view("<i4")
        parts += [starts[some].T.reshape(-1), words.transpose(1, 3, 2, 0).reshape(-1), behind[some].reshape(-1)]
    return Constant("w", DType.I32, np.concatenate(parts).astype(np.int32), along=(loop,) if loop else ())


def _starts(plan: Plan, total: Accumulator, rows: Array, channels: int) -> Array:
    """[channel, variant]: the start of the sum with rows missing at the top and the bottom."""
    start = np.broadcast_to(total.start, (channels,)).astype(np.int64)
    if plan.geometry.starts == 1:
        return start[:, None].astype(np.int32)
    per_row = rows.astype(np.int64).sum(axis=2) * plan.geometry.zero_point
    starts = []
    for top in range(plan.tops + 1):
        for bottom in range(plan.bottoms + 1):
            missing = per_row[:, :top].sum(axis=1) + per_row[:, max(plan.rows - bottom, 0) :].sum(axis=1)
            starts.append(start + missing)
    return np.stack(starts, axis=1).astype(np.int32)


def context(plan: Plan, call: Call, source: str) -> BlockContext:
    """Everything that the template prints of a layer; `source` is the name of its first operand."""
    geometry, window = plan.geometry, plan.window
    reach = geometry.reach(plan.pixels)
    widths = [width for width in (min(WIDTH, window.channels), window.channels % WIDTH) if width]
    widths = [WIDTH] if geometry.apart else list(dict.fromkeys(widths))
    variants = [
        Variant(pixels, width, *edge, listing(geometry, pixels, width, *edge).text("        "))
        for pixels in sorted({plan.pixels, 1}, reverse=True) for width in widths for edge in plan.edges(pixels)
    ]  # fmt: skip
    close, texts = replace(geometry, stride=1, dilation=1), {variant.text: variant for variant in variants}
    packed = [Variant(1, width, 0, 0, listing(close, 1, width, 0, 0).text("        "), "packed") for width in widths]
    padded = any((*window.begins, *window.ends))
    run = Run(window.kernel[1] * window.depth) if plan.gathered and window.dilations[1] == 1 else None
    covered = plan.gathered or not padded
    return BlockContext(
        C_TYPES[call.tensor(0).dtype], C_TYPES[call.outputs[0].dtype], plan, tuple(variants),
        tuple(texts.get(one.text, one) for one in packed) if plan.packed else (), covered,
        reach, geometry.reach(1), geometry.zero_point, source, run,
        _share(plan, _row_cycles(plan, plan.pixels)), _share(plan, _block_cycles(plan, 1)),
    )  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Cycles in GVSoC: to enter a tile, of a unit of pixels, of a block beside its instructions, of one instruction."""

    tile: int
    unit: int
    block: int
    instruction: float


COSTS = {"flat": Cost(338, 34, 0, 1.074), "window": Cost(833, 142, 0, 1.027), "apart": Cost(558, 0, 0, 1.3)}
"""By kind of layer, by least squares over the tiles of four networks; `ci/bench pulp_cycles` prints the errors."""
GATHER_CYCLES, GATHER_ROW_CYCLES, PACK_CYCLES = 34, 28, 20


def cycles(plan: Plan, lines: Any, columns: Any, channels: Any, height: int = 1) -> Any:
    """Modelled cycles of a tile with so many rows and columns of pixels: those of the busiest core.

    A layer of `height` rows has tiles at its upper and lower edge, whose blocks miss rows: the mean of all is told.
    """
    flat = plan.window.flat or plan.gathered
    if flat:
        lines, columns = 1, lines * columns
    full, over = columns // plan.pixels, columns % plan.pixels
    single = (full == 0) | (over <= 2)
    units = full + single * over + (1 - single) * (over > 0)
    groups = -(-channels // WIDTH)
    items = -(-lines * units * groups // CORES)
    touched = -(-items // groups) + (items % groups > 0) * (items > groups)
    ones = single * over / units  # share of the units that are one pixel
    if flat:
        ones = ones * (full == 0)
    busiest = items if flat else _busiest(plan, lines, units * groups, height)
    work = busiest * ((1 - ones) * _block_cycles(plan, plan.pixels) + ones * _block_cycles(plan, 1))
    cost = COSTS["apart" if plan.geometry.apart else "flat" if flat else "window"]
    gather = 0.0
    if plan.gathered:
        words = -(-plan.window.kernel[1] * plan.window.depth // 4)
        gather = plan.pixels * (GATHER_CYCLES + plan.window.kernel[0] * (GATHER_ROW_CYCLES + 6 * words))
    packed = lines * columns * groups / CORES * _packed_cycles(plan) if plan.packed else 0.0
    total = cost.tile + touched * (cost.unit + gather) + items * cost.block + work * cost.instruction + packed
    return np.asarray(np.ceil(total), np.int64)


def _packed_cycles(plan: Plan) -> float:
    """Of a result of four channels, the mean of a row: what pixels cost more whose windows are packed one by one."""
    window, geometry = plan.window, plan.geometry
    share = plan.left_over / window.results
    groups = 1 if geometry.apart else -(-window.channels // WIDTH)
    pack = window.kernel[0] * geometry.taps * (PACK_CYCLES + 2 * geometry.depth) / groups
    return share * (pack + _block_cycles(plan, 1) - _block_cycles(plan, plan.pixels) / plan.pixels)


def _busiest(plan: Plan, lines: Any, blocks: Any, height: int) -> Any:
    """Blocks of the core that has most in a tile with so many blocks a line; the mean of the tiles above each other."""
    whole, turn = lines * blocks * BLOCK_PARTS, CORES * BLOCK_PARTS
    row = _share(plan, _row_cycles(plan, plan.pixels)) * blocks
    upper, lower = plan.tops * row, plan.bottoms * row
    tiles = -(-height // lines)
    edges = -(-(whole - upper) // turn) - (-(whole - lower) // turn)
    inner = (tiles - 2) * -(-whole // turn)
    return np.where(tiles == 1, -(-(whole - upper - lower) // turn), (inner + edges) / tiles)


def _block_cycles(plan: Plan, pixels: int) -> int:
    """Instructions of one block of so many pixels and four channels, a high half of a product counted as five."""
    streamed, sums = plan.geometry.requantise, pixels * WIDTH
    narrow = (streamed.form.low, streamed.form.high) in ((-128, 127), (0, 255), (0, 127))
    each = 7 + bool(streamed.form.pre_shift) + streamed.own + (not narrow)
    return plan.rows * _row_cycles(plan, pixels) + sums * each + 16 + pixels * 4


def _row_cycles(plan: Plan, pixels: int) -> int:
    """Instructions of one row of taps of a block."""
    geometry = plan.geometry
    columns = geometry.columns(pixels)
    read = sum(len(set(now) - set(before)) for before, now in _steps(columns))
    if geometry.apart and (geometry.stride > 1 or geometry.dilation > 1):
        read = geometry.taps * pixels + geometry.taps - 1
    products = geometry.taps * (WIDTH + pixels * WIDTH)
    return geometry.depth // 4 * (products + read) + (4 if geometry.many_rows else 2)


def _share(plan: Plan, cycles: int) -> int:
    """How many sixteenths of a block so many cycles are."""
    return max(1, round(BLOCK_PARTS * cycles / _block_cycles(plan, plan.pixels)))


def _steps(columns: list[list[int]]) -> list[tuple[list[int], list[int]]]:
    return list(zip([[], *columns], columns, strict=False))
