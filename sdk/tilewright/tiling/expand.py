"""From a chosen tiling to the schedule that codegen expands: depths, buffer sizes and offsets in the compute level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from tilewright.tiling.hierarchy import align_up
from tilewright.tiling.schedule import Operand, Stage, TileSchedule, moving_loops
from tilewright.tiling.subject import Subject
from tilewright.tiling.walk import Cut


def expand(subject: Subject, cut: Cut, base: int = 0, pinned: Mapping[str, int] | None = None) -> TileSchedule:
    """The schedule of a tiling whose buffers lie one after the other from byte `base` of the compute level on.

    `pinned` gives the offsets of operands that stay in the compute level, by key.
    """
    moving = moving_loops(subject.stages, cut.order)
    placed: dict[str, Operand] = {}
    at = base
    for number, operand in subject.copied:
        trips = prod(-(-subject.extents[n] // cut.sizes[n]) for n in cut.order if n in moving[operand.key])
        reloaded = trips > 1 and operand.kind != "local"
        depth = 2 if cut.double and reloaded else 1
        size = align_up(_buffer_bytes(subject, cut, number, operand), subject.hierarchy.compute.align)
        placed[operand.key] = replace(operand, depth=depth, offset=at, size=size)
        at += depth * size
    scratch_at = at
    stages = tuple(
        _stage(subject, cut, number, stage, placed, pinned or {}, scratch_at)
        for number, stage in enumerate(subject.stages)
    )
    scratch = max((stage.scratch_bytes for stage in stages), default=0)
    tables = subject.hierarchy.table_bytes_per_tile * cut.tiles
    used = scratch_at - base + align_up(scratch, subject.hierarchy.compute.align) + tables
    return TileSchedule(
        sizes=dict(cut.sizes), order=cut.order, depth={key: operand.depth for key, operand in placed.items()},
        tiles=cut.tiles, stages=stages, compute_bytes=used, traffic_bytes=cut.traffic, cycles=cut.cycles,
        table_bytes=tables, compute_level=subject.hierarchy.compute.name,
    )  # fmt: skip


def _buffer_bytes(subject: Subject, cut: Cut, number: int, operand: Operand) -> int:
    """Bytes of the largest tile."""
    elements = 1
    for axis in range(len(operand.shape)):
        loops = [n for n in subject.axis_loops(number, operand, axis) if n in cut.sizes]
        lengths = subject.chain.axis_lengths(number, operand, axis, {n: cut.sizes[n] for n in loops})
        elements *= int(lengths.max())
    return -(-elements * operand.bits // 8)


def _stage(
    subject: Subject, cut: Cut, number: int, stage: Stage, placed: Mapping[str, Operand], pinned: Mapping[str, int],
    scratch_at: int,
) -> Stage:  # fmt: skip
    operands = []
    for operand in stage.operands:
        place = placed.get(operand.key)
        if place is None:
            operands.append(replace(operand, offset=pinned.get(operand.key, 0), size=operand.bytes_of(_all(operand))))
        else:
            operands.append(replace(operand, depth=place.depth, offset=place.offset, size=place.size))
    return replace(
        stage, operands=tuple(operands), scratch_offset=scratch_at,
        scratch_bytes=int(subject.scratch(number, _largest(subject, cut, number))),
    )  # fmt: skip


def _all(operand: Operand) -> tuple[tuple[int, int], ...]:
    return tuple((0, size) for size in operand.shape)


def _largest(subject: Subject, cut: Cut, number: int) -> dict[str, int]:
    """Longest range of every loop of a stage."""
    ranges = subject.chain.ranges(cut.sizes, cut.order)
    largest = {}
    for loop in subject.stages[number].extents:
        low, high = subject.chain.loop_range(number, loop, ranges)
        largest[loop] = int((high - low).max())
    return largest
