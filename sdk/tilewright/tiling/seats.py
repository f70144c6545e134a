"""Where the buffers of a sitting lie, when its copies start, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from tilewright.tiling.hierarchy import Hierarchy, moving_cycles, start_cycles
from tilewright.tiling.schedule import Stage

AHEAD = 6
"""Stages before its own at which the copies of one start at most: eight lists are under way at once."""


@dataclass(frozen=True)
class Life:
    """Bytes that are taken from stage `first` to stage `last`, both included."""

    key: str
    size_bytes: int
    first: int
    last: int


def starts_of(fixed: Sequence[Life], loads: Sequence[Life], count: int, room: int) -> tuple[int, ...] | None:
    """For each of `count` stages the stage beside which its copies start, -1 before the first one, as early as `room`
    bytes allow and never before those of an earlier stage. None where not even one stage ahead there is room.
    """
    alive = [0] * count
    for life in fixed:
        for stage in range(life.first, life.last + 1):
            alive[stage] += life.size_bytes
    for life in loads:
        for stage in range(life.first, life.last + 1):
            alive[stage] += life.size_bytes
    if max(alive, default=0) > room:
        return None
    starts: list[int] = []
    for stage in range(count):
        size = sum(life.size_bytes for life in loads if life.first == stage)
        earliest = max(starts[-1] if starts else -1, stage - AHEAD if stage >= AHEAD else -1)
        start = stage
        while start > max(earliest, 0) and alive[start - 1] + size <= room:
            start -= 1
            alive[start] += size
        if start == 0:
            start = -1 if earliest < 0 else 0
        if start == stage and size:
            return None
        starts.append(min(start, stage - 1))
    return tuple(starts)


def possible(starts: Sequence[int], count: int) -> bool:
    """True where copies of so many stages start before their own and in their order."""
    before = [-1, *starts]
    return len(starts) == count and all(a <= b < n for n, (a, b) in enumerate(pairwise(before)))


def offsets_of(lives: Sequence[Life]) -> dict[str, int]:
    """A byte for every buffer so that no two that are alive at once overlap: larger ones first, as low as can be."""
    placed: list[tuple[Life, int]] = []
    for life in sorted(lives, key=lambda one: (-one.size_bytes, one.first, one.key)):
        at = 0
        beside = sorted((low, low + o.size_bytes) for o, low in placed if o.first <= life.last and life.first <= o.last)
        for low, high in beside:
            if at + life.size_bytes <= low:
                break
            at = max(at, high)
        placed.append((life, at))
    return {life.key: at for life, at in placed}


def sitting_cycles(stages: Sequence[Stage], starts: Sequence[int], times: Sequence[float], levels: Hierarchy) -> int:
    """Modelled cycles: cores compute a stage when its copies are there; the engine takes copies as they start."""
    costs = levels.costs
    loading, storing, driver = 0.0, 0.0, float(costs.layer)
    loaded = [0.0] * len(stages)
    now = driver
    for opened in range(-1, len(stages)):
        if opened >= 0:
            now = max(now, loaded[opened]) + costs.turn
        driver = max(driver, now)
        if opened > 0:
            driver, storing = _moved(stages[opened - 1], ("output",), driver, storing, levels)
        for stage, start in enumerate(starts):
            if start == opened:
                driver, loading = _moved(stages[stage], ("input", "constant"), driver, loading, levels)
                loaded[stage] = loading
        if opened >= 0:
            now += times[opened]
    _, storing = _moved(stages[-1], ("output",), max(driver, now), storing, levels)
    return ceil(max(now, storing))


def _moved(
    stage: Stage, kinds: tuple[str, ...], driver: float, engine: float, levels: Hierarchy
) -> tuple[float, float]:
    """When the driver has started the copies of a stage, and when the engine has moved them."""
    for operand in stage.operands:
        if operand.kind in kinds and operand.size:
            through = levels.store if operand.kind == "output" else levels.load
            driver += float(start_cycles(through, 1))
            engine = max(engine, driver) + float(moving_cycles(through, operand.size, 1))
    return driver, engine
