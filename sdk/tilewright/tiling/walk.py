"""One tiling counted exactly, tile by tile in NumPy: cycles of the pipeline, bytes moved, bytes of the compute level.

Borders are clipped, operands are copied only where their index changes. A list of copies holds the loads of a tile and
the stores of the one before; where copies run beside computing, the next tile's loads and the last one's stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from tilewright.platform import Copy
from tilewright.tiling.geometry import pieces
from tilewright.tiling.hierarchy import Hierarchy, align_up, moving_cycles, start_cycles
from tilewright.tiling.schedule import Operand
from tilewright.tiling.subject import Subject

BYTES_PER_CYCLE = 64
"""Bytes moved that weigh as much as one cycle: they cost energy even where computing hides their time."""

Objective = Literal["cycles", "bytes"]


@dataclass(frozen=True)
class Cut:
    """One tiling, walked: bytes of the compute level, cycles and bytes moved of one run.

    `doubted` are cycles that it must be better by than what needs no second buffers.
    """

    sizes: Mapping[str, int]
    order: tuple[str, ...]
    double: bool
    compute_bytes: int
    cycles: int
    traffic: int
    tiles: int
    doubted: int = 0

    def cost(self, objective: Objective = "cycles") -> int:
        """What is minimised, see `cost_of`."""
        return int(cost_of(self.cycles + self.doubted, self.traffic, objective))


def cost_of(cycles: Any, traffic: Any, objective: Objective) -> Any:
    """Cycles, a byte moved counting a little; or bytes moved, a cycle counting a little. Numbers or arrays."""
    if objective == "bytes":
        return traffic * (1 << 20) + cycles // 16
    return cycles * BYTES_PER_CYCLE + traffic


def stage_sizes(
    subject: Subject, number: int, sizes: Mapping[str, Any], longest: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Sizes of all loops of a stage: of the last as given, of the others as long as their local's axes."""
    stage = subject.stages[number]
    if number == len(subject.stages) - 1:
        return {**stage.extents, **sizes}
    local = stage.local()
    assert local is not None
    return {**stage.extents, **{loop: longest[local.key][axis] for loop, axis in stage.feeds.items()}}


def engine_of(subject: Subject, operand: Operand) -> Copy:
    """The engine that copies an operand's tiles."""
    if operand.kind == "output":
        return subject.hierarchy.store
    return subject.hierarchy.load if operand.home == subject.hierarchy.home.name else subject.hierarchy.load_constants


@dataclass(frozen=True)
class _Tiles:
    """All tiles of an operand: bytes, cycles to start and of moving, axes; each spreads over the trips of `loops`."""

    loops: tuple[str, ...]
    moved: Any
    start: Any
    moving: Any
    axes: tuple[Any, ...]

    def on(self, values: Any, order: Sequence[str]) -> Any:
        """Values over the operand's own loops as values over the order's, with one step for all others."""
        values = np.asarray(values)
        if not self.loops or values.ndim == 0:
            return values.reshape([1] * len(order))
        turned = values.transpose([self.loops.index(name) for name in order if name in self.loops])
        steps = iter(turned.shape)
        return turned.reshape([next(steps) if name in self.loops else 1 for name in order])


@dataclass(frozen=True)
class _Copies:
    """Cycles of the loads or stores of every tile: until they are started, and of moving."""

    start: Any
    moving: Any

    @staticmethod
    def none(trips: tuple[int, ...]) -> _Copies:
        """No copies yet."""
        return _Copies(np.zeros(trips), np.zeros(trips))

    def late(self, by: int, count: int) -> _Copies:
        """Those of tile t in list t + `by` of `count`."""
        start, moving = np.zeros(count), np.zeros(count)
        start[by : by + self.start.size] = self.start.ravel()
        moving[by : by + self.moving.size] = self.moving.ravel()
        return _Copies(start, moving)


def walk(subject: Subject, sizes: Mapping[str, int], order: tuple[str, ...], double: bool) -> Cut:
    """One tiling counted tile by tile: cycles of the pipeline, bytes moved, bytes of the compute level."""
    trips = tuple(-(-subject.extents[n] // sizes[n]) for n in order)
    load, store = _Copies.none(trips), _Copies.none(trips)
    used, traffic = 0, 0
    lengths: dict[str, list[Any]] = {}
    masks: dict[str, Any] = {}
    for number, operand in subject.copied:
        tiles = _tiles(subject, number, operand, sizes)
        mask = masks[operand.key] = _changes(order, trips, tiles.loops)
        size = align_up(int(np.max(tiles.moved)), subject.hierarchy.compute.align)
        count = int(mask.sum())
        used += size * (2 if double and count > 1 and operand.kind != "local" else 1)
        if operand.kind == "local":
            lengths[operand.key] = [tiles.on(axis, order) for axis in tiles.axes]
            continue
        copies, moved = (store, _ends(mask)) if operand.kind == "output" else (load, mask)
        copies.start[...] += np.where(moved, tiles.on(tiles.start, order), 0)
        copies.moving[...] += np.where(moved, tiles.on(tiles.moving, order), 0)
        traffic += int(np.where(mask, tiles.on(tiles.moved, order), 0).sum())
    alone, beside, scratch = _work(subject, sizes, order, trips, lengths, masks)
    tiles_all = prod(trips)
    used += align_up(scratch, subject.hierarchy.compute.align) + subject.hierarchy.table_bytes_per_tile * tiles_all
    cycles = _pipeline(subject.hierarchy, load, store, alone.ravel(), beside.ravel(), double)
    doubted = int(cycles * subject.hierarchy.costs.doubt) if double else 0
    return Cut(dict(sizes), order, double, int(used), int(np.ceil(cycles)), traffic, tiles_all, doubted)


def _pipeline(hierarchy: Hierarchy, load: _Copies, store: _Copies, alone: Any, beside: Any, double: bool) -> float:
    """Cycles of a layer; of its kernels only those `beside` which copies run hide any."""
    late = 2 if double else 1
    costs, tiles = hierarchy.costs, alone.size
    lists = _lists(hierarchy, load.late(0, tiles + late), store.late(late, tiles + late))
    if not double:
        return float(costs.layer + costs.tile * tiles + (alone + beside).sum() + lists.sum())
    hidden = np.maximum(beside, lists[1:-1])
    return float(costs.layer + costs.tile_beside * tiles + lists[0] + (alone + hidden).sum() + lists[-1])


def _lists(hierarchy: Hierarchy, load: _Copies, store: _Copies) -> Any:
    """Cycles of lists of loads and stores."""
    both = np.maximum(load.moving, store.moving) if hierarchy.costs.both_ways else load.moving + store.moving
    return load.start + store.start + both


def _tiles(subject: Subject, number: int, operand: Operand, sizes: Mapping[str, int]) -> _Tiles:
    """The tiles of an operand; they do not depend on order and depth and are kept."""
    own = {n for axis in range(len(operand.shape)) for n in subject.axis_loops(number, operand, axis)}
    loops = tuple(name for name in subject.extents if name in own and name in sizes)
    key = (operand.key, *(sizes[name] for name in loops), loops)
    if key not in subject.known:
        subject.known[key] = _made(subject, number, operand, sizes, loops)
    known = subject.known[key]
    assert isinstance(known, _Tiles)
    return known


def _made(subject: Subject, number: int, operand: Operand, sizes: Mapping[str, int], loops: tuple[str, ...]) -> _Tiles:
    axes: list[Any] = []
    elements: Any = np.asarray(1)
    for axis in range(len(operand.shape)):
        axes.append(_axis(subject, number, operand, axis, sizes, loops))
        elements = elements * axes[-1]
    moved = -(-elements * operand.bits // 8)
    engine = engine_of(subject, operand)
    runs, orders = pieces(axes, operand.shape, operand.axes, engine.ranks)
    start = start_cycles(engine, orders) * (moved > 0)
    moving = moving_cycles(engine, moved, runs) * (moved > 0)
    return _Tiles(loops, moved, start, moving, tuple(axes))


def _axis(
    subject: Subject, number: int, operand: Operand, axis: int, sizes: Mapping[str, int], loops: Sequence[str]
) -> Any:
    """Lengths of an axis, broadcastable over the trips of `loops`."""
    own = [name for name in subject.axis_loops(number, operand, axis) if name in sizes]
    key = (operand.key, axis, *((name, sizes[name]) for name in own))
    if key not in subject.known:
        subject.known[key] = subject.chain.axis_lengths(number, operand, axis, {name: sizes[name] for name in own})
    known = np.asarray(subject.known[key])
    steps = iter(known.shape)
    return known.reshape([next(steps) if name in own else 1 for name in loops])


def _changes(order: Sequence[str], trips: Sequence[int], moved: Sequence[str]) -> Any:
    """True at the tiles where the index of an operand that `moved` move is not that of the tile before."""
    mask = np.zeros(tuple(trips), bool)
    depth = max((i + 1 for i, n in enumerate(order) if n in moved), default=0)
    mask[(slice(None),) * depth + (0,) * (len(order) - depth)] = True
    return mask


def _ends(mask: Any) -> Any:
    """True at the last tile before every one where the mask is true, and at the very last."""
    flat = mask.ravel()
    return np.append(flat[1:], True).reshape(mask.shape)


def _work(
    subject: Subject, sizes: Mapping[str, int], order: Sequence[str], trips: tuple[int, ...],
    lengths: Mapping[str, Sequence[Any]], masks: Mapping[str, Any],
) -> tuple[Any, Any, int]:  # fmt: skip
    """Cycles of every tile before its copies start and beside them, and bytes of scratch, over all stages.

    Copies start with the first stage that every tile computes.
    """
    ranges = subject.chain.ranges(sizes, order)
    alone, beside, scratch = np.zeros(trips), np.zeros(trips), 0
    last, started = len(subject.stages) - 1, False
    for number, stage in enumerate(subject.stages):
        given = stage_sizes(subject, number, {n: high - low for n, (low, high) in ranges.items()}, lengths)
        computed = _any_change(stage.operands, masks) if number < last and stage.local() is not None else True
        started = started or bool(np.all(computed))
        cost = subject.cycles(number, given) + (subject.hierarchy.costs.kernel if number < last else 0)
        (beside if started else alone)[...] += np.where(computed, np.broadcast_to(cost, trips), 0)
        scratch = max(scratch, int(np.max(subject.scratch(number, given))))
    return alone, beside, scratch


def _any_change(operands: Sequence[Operand], masks: Mapping[str, Any]) -> Any:
    """True where some operand of a stage has another tile than before."""
    changes: Any = np.asarray(False)
    for operand in operands:
        if operand.key in masks:
            changes = changes | masks[operand.key]
    return changes
