"""One tiling counted exactly, tile by tile in NumPy: cycles of the pipeline, bytes moved, bytes of the compute level.

Borders are clipped, operands are copied only where their index changes, and where copies run beside computing the next
tile is loaded and the last one stored while a tile is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from tilewright.platform import Copy
from tilewright.tiling.geometry import bursts, commands
from tilewright.tiling.hierarchy import align_up, copy_cycles
from tilewright.tiling.schedule import Operand
from tilewright.tiling.subject import Subject

BYTES_PER_CYCLE = 64
"""Bytes moved that weigh as much as one cycle: they cost energy even where computing hides their time."""

Objective = Literal["cycles", "bytes"]


@dataclass(frozen=True)
class Cut:
    """One tiling, walked: bytes of the compute level, cycles and bytes moved of one run."""

    sizes: Mapping[str, int]
    order: tuple[str, ...]
    double: bool
    compute_bytes: int
    cycles: int
    traffic: int
    tiles: int

    def cost(self, objective: Objective = "cycles") -> int:
        """What is minimised: cycles, a byte moved counting a little; or bytes moved, a cycle counting a little."""
        if objective == "bytes":
            return (self.traffic << 20) + self.cycles // 16
        return self.cycles * BYTES_PER_CYCLE + self.traffic


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


def walk(subject: Subject, sizes: Mapping[str, int], order: tuple[str, ...], double: bool) -> Cut:
    """One tiling counted tile by tile: cycles of the pipeline, bytes moved, bytes of the compute level."""
    trips = tuple(-(-subject.extents[n] // sizes[n]) for n in order)
    load, store = np.zeros(trips), np.zeros(trips)
    used, traffic = 0, 0
    lengths: dict[str, list[Any]] = {}
    masks: dict[str, Any] = {}
    for number, operand in subject.copied:
        axes = [_on_order(subject, number, operand, axis, sizes, order) for axis in range(len(operand.shape))]
        lengths[operand.key] = axes
        mask = masks[operand.key] = _changes(subject, number, operand, order, trips)
        elements: Any = np.asarray(1)
        for axis in axes:
            elements = elements * axis
        size = align_up(int(-(-elements.max() * operand.bits // 8)), subject.hierarchy.compute.align)
        count = int(mask.sum())
        used += size * (2 if double and count > 1 and operand.kind != "local" else 1)
        if operand.kind == "local":
            continue
        engine = engine_of(subject, operand)
        moved = -(-elements * operand.bits // 8)
        cost = copy_cycles(
            engine, moved, bursts(axes, operand.shape, operand.axes),
            commands(axes, operand.shape, operand.axes, engine.ranks),
        ) * (elements > 0)  # fmt: skip
        (store if operand.kind == "output" else load)[...] += np.where(mask, cost, 0)
        traffic += int(np.where(mask, np.broadcast_to(moved, trips), 0).sum())
    work, scratch = _work(subject, sizes, order, trips, lengths, masks)
    tiles = prod(trips)
    used += align_up(scratch, subject.hierarchy.compute.align) + subject.hierarchy.table_bytes_per_tile * tiles
    loads, works, stores = load.ravel(), work.ravel(), store.ravel()
    if double:
        beside = np.append(loads[1:], 0) + np.insert(stores[:-1], 0, 0)
        cycles = loads[0] + np.maximum(works, beside).sum() + stores[-1]
    else:
        cycles = loads.sum() + works.sum() + stores.sum()
    return Cut(dict(sizes), order, double, int(used), int(np.ceil(cycles)), traffic, tiles)


def _on_order(
    subject: Subject, number: int, operand: Operand, axis: int, sizes: Mapping[str, int], order: Sequence[str]
) -> Any:
    """Lengths of an axis, broadcastable over the tiles in the order's dimensions."""
    loops = subject.axis_loops(number, operand, axis)
    key = (operand.key, axis, *(sizes.get(name, 0) for name in loops))
    if key not in subject.lengths:
        subject.lengths[key] = subject.chain.axis_lengths(
            number, operand, axis, {n: sizes[n] for n in loops if n in sizes}
        )
    found = subject.lengths[key]
    inside = [name for name in loops if name in sizes]
    turned = found.transpose([inside.index(name) for name in order if name in inside])
    return turned.reshape([-(-subject.extents[n] // sizes[n]) if n in inside else 1 for n in order])


def _changes(subject: Subject, number: int, operand: Operand, order: Sequence[str], trips: Sequence[int]) -> Any:
    """True at the tiles where the operand's index is not that of the tile before."""
    moved = {n for axis in range(len(operand.shape)) for n in subject.axis_loops(number, operand, axis)}
    mask = np.zeros(tuple(trips), bool)
    depth = max((i + 1 for i, n in enumerate(order) if n in moved), default=0)
    mask[(slice(None),) * depth + (0,) * (len(order) - depth)] = True
    return mask


def _work(
    subject: Subject, sizes: Mapping[str, int], order: Sequence[str], trips: tuple[int, ...],
    lengths: Mapping[str, Sequence[Any]], masks: Mapping[str, Any],
) -> tuple[Any, int]:  # fmt: skip
    """Cycles of every tile and bytes of scratch, over all stages."""
    ranges = subject.chain.ranges(sizes, order)
    work, scratch = np.zeros(trips), 0
    last = len(subject.stages) - 1
    for number, stage in enumerate(subject.stages):
        given = stage_sizes(subject, number, {n: high - low for n, (low, high) in ranges.items()}, lengths)
        local = stage.local()
        cost = np.broadcast_to(subject.cycles(number, given), trips)
        if number < last and local is not None:
            cost = np.where(_any_change(stage.operands, masks), cost, 0)
        work += cost
        scratch = max(scratch, int(np.max(subject.scratch(number, given))))
    return work, scratch


def _any_change(operands: Sequence[Operand], masks: Mapping[str, Any]) -> Any:
    """True where some operand of a stage has another tile than before."""
    found: Any = np.asarray(False)
    for operand in operands:
        if operand.key in masks:
            found = found | masks[operand.key]
    return found
