"""Tiles of every layer in the report: bytes and modelled cycles always, measured ones where the target has spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from tilewright.plan.plan import ExecutionPlan
from tilewright.plan.profile import kernel_owners, modelled_tiles
from tilewright.plugins import platform
from tilewright.report.build import LayerReport
from tilewright.report.tile_times import TileCycles, TileReport
from tilewright.run.counts import Span


def with_tiles(layers: Sequence[LayerReport], plan: ExecutionPlan, spans: Sequence[Span]) -> tuple[LayerReport, ...]:
    """The layers with their tiles: bytes, modelled cycles, and measured ones where the simulator told spans.

    Where several layers are computed tile by tile, each has the cycles of its own kernels too.
    """
    chosen = platform(plan.platform)
    layers_with_tiles = []
    own_cycles: Counter[str] = Counter()
    for index, (row, instruction) in enumerate(zip(layers, plan.instructions, strict=True)):
        own = [span for span in spans if span.instruction == index and span.kind != "layer"]
        owners = kernel_owners(plan, instruction)
        measured = _per_tile(own, [len(tile) for tile in owners])
        if measured and instruction.schedule is not None and len(instruction.schedule.stages) > 1:
            kernels = [span.cycles for span in own if span.kind == "kernel"]
            for owner, cycles in zip(chain.from_iterable(owners), kernels, strict=True):
                own_cycles[owner] += cycles
        tiles = modelled_tiles(plan, instruction, chosen)
        reports = (
            TileReport(
                {name: low for name, (low, _) in tile.ranges.items()},
                {name: high - low for name, (low, high) in tile.ranges.items()},
                tile.copied_bytes, TileCycles(tile.kernel, tile.copy, tile.wait),
                measured[at] if len(measured) == len(tiles) else None,
            )
            for at, tile in enumerate(tiles)
        )  # fmt: skip
        layers_with_tiles.append(replace(row, profile=tuple(reports)))
    return tuple(replace(row, kernel_cycles=own_cycles.get(row.name)) for row in layers_with_tiles)


def _per_tile(spans: Sequence[Span], kernels: Sequence[int]) -> list[TileCycles]:
    """Cycles by tile: a tile ends with the wait behind its last kernel that is followed by the next tile's first one.

    Waits before a tile's first kernel are its own, so are those behind the last kernel of all. Empty where the spans
    do not hold as many kernels as the tiles ask for.
    """
    if sum(kernels) != sum(span.kind == "kernel" for span in spans) or not kernels:
        return []
    sums = [{"kernel": 0, "copy": 0, "wait": 0} for _ in kernels]
    at, left = 0, kernels[0]
    for span in spans:
        if span.kind == "kernel" and left == 0:
            at += 1
            left = kernels[at]
        here = at + 1 if span.kind != "kernel" and left == 0 and at + 1 < len(kernels) else at
        sums[here][span.kind] += span.cycles
        left -= span.kind == "kernel"
    return [TileCycles(one["kernel"], one["copy"], one["wait"]) for one in sums]
