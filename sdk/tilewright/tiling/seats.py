"""Where the buffers of a sitting lie, when its copies start, and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from tilewright.platform import Copy
from tilewright.tiling.hierarchy import Hierarchy, moving_cycles, start_cycles
from tilewright.tiling.schedule import Operand, Stage

AHEAD = 6
"""Stages before its own at which copies of one start at most: eight lists are under way at once."""


@dataclass(frozen=True)
class Life:
    """Bytes that are taken from stage `first` to stage `last`, both included. What is copied from home cannot start
    before stage `earliest`, behind the errand that writes it; -1: whenever.
    """

    key: str
    size_bytes: int
    first: int
    last: int
    earliest: int = -1


def starts_of(fixed: Sequence[Life], loads: Sequence[Life], count: int, room: int) -> dict[str, int] | None:
    """For everything that is copied the stage beside which its copy starts, -1 before the first of `count`: as early as
    `room` bytes allow, and not before what earlier stages need but for what is written by errands. None where there is
    no room even one stage ahead.
    """
    alive = [0] * count
    for life in (*fixed, *loads):
        for stage in range(life.first, life.last + 1):
            alive[stage] += life.size_bytes
    if max(alive, default=0) > room:
        return None
    starts: dict[str, int] = {}
    latest = before = -1  # of this stage, and of those before
    stage = 0
    for life in loads:
        if life.first != stage:
            stage, before = life.first, latest
        first = max(before, life.first - AHEAD if life.first >= AHEAD else -1, life.earliest)
        start = life.first
        while start > max(first, 0) and alive[start - 1] + life.size_bytes <= room:
            start -= 1
            alive[start] += life.size_bytes
        if start == 0:
            start = max(first, -1)
        if start >= life.first:
            return None
        starts[life.key] = start
        if life.earliest <= before:
            latest = max(latest, start)
    return starts


def possible(starts: Mapping[str, int], loads: Sequence[Life]) -> bool:
    """True where everything that is copied starts before its stage, and not before it is there."""
    return starts.keys() == {life.key for life in loads} and all(
        max(life.earliest, -1) <= starts[life.key] < life.first for life in loads
    )


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


def sitting_cycles(
    stages: Sequence[Stage], starts: Mapping[str, int], times: Sequence[float], levels: Hierarchy
) -> int:
    """Modelled cycles: cores compute a stage when its copies are there; the engine takes copies as they start."""
    costs = levels.costs
    loading, storing, driver = 0.0, 0.0, float(costs.layer)
    loaded = [0.0] * len(stages)
    starting: dict[int, list[tuple[int, Operand]]] = {}
    for number, stage in enumerate(stages):
        for operand in stage.operands:
            if operand.kind in ("input", "constant"):
                starting.setdefault(starts[operand.key], []).append((number, operand))
    now = driver
    for opened in range(-1, len(stages)):
        if opened >= 0:
            now = max(now, loaded[opened]) + costs.turn
        driver = max(driver, now)
        if opened > 0:
            driver, storing = _stored(stages[opened - 1], driver, storing, levels)
        for number, operand in starting.get(opened, ()):
            driver, loading = _moved(operand, levels.load, driver, loading)
            loaded[number] = loading
        if opened >= 0:
            now += times[opened]
    _, storing = _stored(stages[-1], max(driver, now), storing, levels)
    return ceil(max(now, storing))


def _stored(stage: Stage, driver: float, engine: float, levels: Hierarchy) -> tuple[float, float]:
    """When the driver has started the stores of a stage, and when the engine has moved them."""
    for operand in stage.operands:
        if operand.kind == "output":
            driver, engine = _moved(operand, levels.store, driver, engine)
    return driver, engine


def _moved(operand: Operand, through: Copy, driver: float, engine: float) -> tuple[float, float]:
    driver += float(start_cycles(through, 1))
    return driver, max(engine, driver) + float(moving_cycles(through, operand.size, 1))
