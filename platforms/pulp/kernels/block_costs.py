"""What blocks of pixels take: cycles of a tile, and the parts of a block's work by which cores share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.platforms.pulp.kernels.block_asm import clip_of
from tilewright.platforms.pulp.kernels.block_plan import BLOCK_PARTS, WIDTH, Plan
from tilewright.platforms.pulp.kernels.windows import CORES


@dataclass(frozen=True)
class Cost:
    """Cycles in GVSoC: to enter a tile, of a unit of pixels, of a block beside its instructions, of one instruction."""

    tile: int
    unit: int
    block: int
    instruction: float


COSTS = {"flat": Cost(338, 34, 0, 1.074), "window": Cost(833, 142, 0, 1.027), "apart": Cost(558, 0, 0, 1.3)}
"""By kind of layer, by least squares over the tiles of four networks; `ci/bench pulp_cycles` prints the errors."""
EXACT_CYCLES = 110
"""Of a result whose sum is made a code in 64 bits."""
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
    groups = -(-channels // plan.width)
    items = -(-lines * units * groups // CORES)
    touched = -(-items // groups) + (items % groups > 0) * (items > groups)
    ones = single * over / units  # share of the units that are one pixel
    if flat:
        ones = ones * (full == 0)
    busiest = items if flat else _busiest(plan, lines, units * groups, height)
    work = busiest * ((1 - ones) * block_cycles(plan, plan.pixels) + ones * block_cycles(plan, 1))
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
    pack = window.kernel[0] * geometry.places * (PACK_CYCLES + 2 * geometry.depth) / groups
    return share * (pack + block_cycles(plan, 1) - block_cycles(plan, plan.pixels) / plan.pixels)


def _busiest(plan: Plan, lines: Any, blocks: Any, height: int) -> Any:
    """Blocks of the core that has most in a tile with so many blocks a line; the mean of the tiles above each other."""
    whole, turn = lines * blocks * BLOCK_PARTS, CORES * BLOCK_PARTS
    row = share(plan, row_cycles(plan, plan.pixels)) * blocks
    upper, lower = plan.tops * row, plan.bottoms * row
    tiles = -(-height // lines)
    edges = -(-(whole - upper) // turn) - (-(whole - lower) // turn)
    inner = (tiles - 2) * -(-whole // turn)
    return np.where(tiles == 1, -(-(whole - upper - lower) // turn), (inner + edges) / tiles)


def block_cycles(plan: Plan, pixels: int) -> int:
    """Instructions of one block of so many pixels and four channels, a high half of a product counted as five."""
    streamed, sums, each = plan.geometry.requantise, pixels * plan.width, EXACT_CYCLES
    if streamed is not None:
        each = 7 + bool(streamed.form.pre_shift) + streamed.own + (clip_of(streamed.form) is None)
    return plan.rows * row_cycles(plan, pixels) + sums * each + 16 + pixels * 4


def row_cycles(plan: Plan, pixels: int) -> int:
    """Instructions of one row of taps of a block."""
    geometry = plan.geometry
    columns = geometry.columns(pixels)
    read = sum(len(set(now) - set(before)) for before, now in _steps(columns))
    if geometry.apart and (geometry.stride > 1 or geometry.dilation > 1):
        read = geometry.places * pixels + geometry.places - 1
    products = geometry.taps * (plan.width + pixels * plan.width)
    return geometry.depth // 4 * (products + read) + (4 if geometry.many_rows else 2)


def share(plan: Plan, cycles: int) -> int:
    """How many sixteenths of a block so many cycles are."""
    return max(1, round(BLOCK_PARTS * cycles / block_cycles(plan, plan.pixels)))


def _steps(columns: list[list[int]]) -> list[tuple[list[int], list[int]]]:
    return list(zip([[], *columns], columns, strict=False))
