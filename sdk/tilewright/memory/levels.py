"""What every memory level holds at its worst moment, byte by byte, as reports and generated comments show it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from tilewright.errors import PlatformError
from tilewright.memory.needs import BufferReport, MemoryReport, empty
from tilewright.memory.placed import PlacedPlan, Region
from tilewright.memory.states import STATE
from tilewright.platform import MemoryLevel
from tilewright.tiling.schedule import Operand, TileSchedule

BUFFER_KINDS: Mapping[str, str] = {
    "activations": "activation",
    "io": "io",
    "scratch": "scratch",
    "copy_buffers": "copy_buffer",
    "constants": "constant",
    "state": "state",
}


def memory_reports(
    placed: PlacedPlan, levels: Sequence[MemoryLevel], constant_bytes: int, table_bytes: int = 0
) -> dict[str, MemoryReport]:
    """Per level the worst moment decomposed; levels that hold nothing are reported as such.

    `table_bytes` of `constant_bytes` are tables of tiles and copies. PlatformError where a constant rests in a level
    that there is not, or in one of the network's own.
    """
    _check_apart(placed, levels)
    reports = {}
    readonly = any(level.readonly for level in levels)
    fast, apart = _tile_level(placed), placed.plan.constants_apart
    constant_bytes = max(0, constant_bytes - sum(apart.values()))
    for level in levels:
        rests = level.readonly or (level.name == placed.level and not readonly)
        if level.name == placed.level:
            row = _compute_level(placed, level)
        elif level.name == fast:
            row = _tile_buffers(placed, level)
        else:
            row = empty(level)
        if rests:
            row = replace(
                row, worst_case=row.worst_case + constant_bytes,
                constants=row.constants + constant_bytes - table_bytes, tables=table_bytes,
            )  # fmt: skip
        own = apart.get(level.name, 0)
        reports[level.name] = replace(row, worst_case=row.worst_case + own, constants=row.constants + own)
    return reports


def _check_apart(placed: PlacedPlan, levels: Sequence[MemoryLevel]) -> None:
    """PlatformError where a kernel's constant rests in a level whose bytes nobody would count."""
    own = {placed.level, _tile_level(placed)}
    free = [level.name for level in levels if level.name not in own and not level.readonly]
    told = ", ".join(free) or "none"
    for slot in placed.plan.frozen_slots:
        if slot.constant.level and slot.constant.level not in free:
            raise PlatformError(
                f"constant '{slot.constant.name}' of node '{slot.node}' rests in level '{slot.constant.level}'",
                why="the network lies there" if slot.constant.level in own else f"free levels are {told}",
                fix="name the memory of the kernel's engine",
            )


def _tile_level(placed: PlacedPlan) -> str:
    """The level of tiles, "" where nothing is tiled."""
    return next((i.schedule.compute_level for i in placed.plan.instructions if i.schedule is not None), "")


def _tile_buffers(placed: PlacedPlan, level: MemoryLevel) -> MemoryReport:
    """The level of tiles: constants that stay there, and beside them the buffers of the layer that needs most."""
    schedules = [i.schedule for i in placed.plan.instructions if i.schedule is not None]
    worst = max(schedules, key=lambda schedule: schedule.compute_bytes)
    pinned, local, spans = dict[tuple[str, str], int](), dict[int, int](), dict[int, int]()
    fullest = _fullest(worst) if worst.starts else 0
    for schedule in schedules:
        for stage in schedule.stages:
            for operand in stage.operands:
                size = operand.size * operand.depth
                if operand.kind == "constant" and operand.home == level.name:
                    pinned[stage.node, operand.key] = size
                elif schedule is worst and size and _there(schedule, operand, fullest):
                    (local if operand.kind == "local" else spans)[operand.offset] = size
    used, stacks = placed.plan.compute_bytes, placed.plan.stack_bytes
    moved = sum(size for offset, size in spans.items() if offset not in local)
    own = worst.stages[fullest : fullest + 1] if worst.starts else worst.stages
    scratch = max(stage.scratch_bytes for stage in own)
    return MemoryReport(
        size=level.size, readonly=False, worst_case=used + stacks, live_set=None, lower_bound=None, status=None,
        activations=sum(local.values()), copy_buffers=moved, scratch=scratch, constants=sum(pinned.values()),
        padding=used - sum(local.values()) - moved - scratch - sum(pinned.values()),
        stack=stacks or None, provenance={"stack": "proved"} if stacks else {},
    )  # fmt: skip


def _there(schedule: TileSchedule, operand: Operand, stage: int) -> bool:
    """True where an operand's buffer is taken in a stage; those of tiles are in every one."""
    if not schedule.starts:
        return True
    first, last = schedule.lives[operand.key]
    return first <= stage <= last


def _fullest(schedule: TileSchedule) -> int:
    """The stage of a sitting with most bytes taken."""
    sizes = {o.key: o.size for stage in schedule.stages for o in stage.operands}
    taken = [stage.scratch_bytes for stage in schedule.stages]
    for key, (first, last) in schedule.lives.items():
        for stage in range(first, last + 1):
            taken[stage] += sizes[key]
    return taken.index(max(taken))


def _parts(alive: Sequence[Region]) -> dict[str, int]:
    """Bytes by kind of what is alive at one moment; a byte that two share is counted for the one that starts lower."""
    parts = dict.fromkeys(BUFFER_KINDS, 0)
    covered = 0
    for region in sorted(alive, key=lambda r: (r.offset, -r.size)):
        end = region.offset + region.size
        parts[region.kind] += max(0, end - max(covered, region.offset))
        covered = max(covered, end)
    return parts


def _worst_parts(regions: Sequence[Region]) -> dict[str, int]:
    """The parts at the moment at which most bytes are in use, the first of several such moments.

    A moment is looked at only where the sizes of what is alive, which may share bytes, exceed the most found so far.
    """
    if not regions:
        return _parts([])
    change: dict[int, int] = {}
    for region in regions:
        change[region.first] = change.get(region.first, 0) + region.size
        change[region.last + 1] = change.get(region.last + 1, 0) - region.size
    moments = sorted(change)
    sums = dict(zip(moments, accumulate(change[moment] for moment in moments), strict=True))
    at = max(sums, key=lambda moment: sums[moment])
    best = _parts([r for r in regions if r.first <= at <= r.last])
    most = sum(best.values())
    waiting = sorted(range(len(regions)), key=lambda index: -regions[index].first)
    alive: dict[int, Region] = {}
    dying: list[tuple[int, int]] = []
    for moment in sorted({region.first for region in regions}):
        while waiting and regions[waiting[-1]].first == moment:
            index = waiting.pop()
            alive[index] = regions[index]
            heapq.heappush(dying, (regions[index].last, index))
        while dying[0][0] < moment:
            del alive[heapq.heappop(dying)[1]]
        if sums[moment] > most or (sums[moment] == most and moment < at):
            parts = _parts([alive[index] for index in sorted(alive)])
            if (-sum(parts.values()), moment) < (-most, at):
                best, most, at = parts, sum(parts.values()), moment
    return best


def _compute_level(placed: PlacedPlan, level: MemoryLevel) -> MemoryReport:
    regions = placed.regions
    parts = _worst_parts([region for region in regions if region.kind != STATE])
    return MemoryReport(
        size=level.size,
        readonly=level.readonly,
        worst_case=placed.arena_bytes + placed.state_bytes,
        live_set=placed.live_set,
        lower_bound=placed.lower_bound,
        status="optimal" if placed.solution.status == "optimal" else "gap",
        cut_off=placed.solution.cut_off,
        activations=parts["activations"],
        io=parts["io"],
        scratch=parts["scratch"],
        copy_buffers=parts["copy_buffers"],
        constants=parts["constants"],
        state=placed.state_bytes,
        padding=placed.arena_bytes - sum(parts.values()),
        buffers=tuple(
            BufferReport(r.name, r.offset, r.size, r.first, r.last, BUFFER_KINDS[r.kind])  # type: ignore[arg-type]
            for r in regions
        ),
    )
