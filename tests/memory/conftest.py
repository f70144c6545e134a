"""Problems to place: small random ones with every feature, and network-like graphs of any size."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from memory.networks import network_graph
from tilewright.memory.problem import Buffer, Overlap, PlacementProblem, View


def random_problem(seed: int, *, buffers: int = 5, rich: bool = True) -> PlacementProblem:
    """A few small buffers; `rich` ones have alignments, views, pins and permitted overlaps. Always consistent."""
    rnd = random.Random(seed)
    found: list[Buffer] = []
    overlaps: list[Overlap] = []
    views: list[View] = []
    for index in range(rnd.randint(1, buffers)):
        lower = rnd.randint(0, 4)
        upper = lower + rnd.randint(1, 4)
        align = rnd.choice([1, 1, 2, 4]) if rich else 1
        found.append(Buffer(f"b{index}", lower, upper, rnd.randint(0 if rich else 1, 7), align))
    if not rich:
        return PlacementProblem(tuple(found))
    if rnd.random() < 0.4:
        index = rnd.randrange(len(found))
        pinned = found[index].align * rnd.randint(0, 3)
        old = found[index]
        found[index] = Buffer(old.name, old.lower, old.upper, old.size, old.align, pinned)
    if rnd.random() < 0.5:
        outer = rnd.choice(found)
        shift = rnd.randint(0, outer.size)
        size = rnd.randint(0, outer.size - shift)
        lower = rnd.randint(outer.lower, outer.upper)
        found.append(Buffer("v0", lower, lower + rnd.randint(1, 3), size))
        views.append(View("v0", outer.name, shift))
    for earlier in found:
        for later in found:
            if earlier is not later and earlier.lower < later.lower == earlier.upper - 1 and rnd.random() < 0.7:
                overlaps.append(Overlap(earlier.name, later.name, rnd.randint(-3, 4)))
    return PlacementProblem(tuple(found), None, tuple(overlaps), tuple(views))


def smallest_peak(problem: PlacementProblem) -> int:
    """The smallest peak over all placements, by trying every offset of every buffer; for tiny problems only."""
    views = {view.name: view for view in problem.views}
    gaps = {(overlap.earlier, overlap.later): overlap.gap for overlap in problem.overlaps}
    buffers = [b for b in problem.buffers if b.name not in views] + [b for b in problem.buffers if b.name in views]
    total = sum(b.size + b.align for b in buffers) + max([b.pinned or 0 for b in buffers])

    def apart(one: Buffer, low: int, two: Buffer, high: int) -> bool:
        if one.upper <= two.lower or two.upper <= one.lower or low + one.size <= high or high + two.size <= low:
            return True
        if one.size == 0 or two.size == 0:
            return True
        if views.get(one.name, View("", "")).of == two.name or views.get(two.name, View("", "")).of == one.name:
            return True
        if (one.name, two.name) in gaps:
            return high + gaps[(one.name, two.name)] <= low
        if (two.name, one.name) in gaps:
            return low + gaps[(two.name, one.name)] <= high
        return False

    def fits(placed: dict[str, int], capacity: int) -> bool:
        if len(placed) == len(buffers):
            return True
        buffer = buffers[len(placed)]
        if buffer.name in views:
            view = views[buffer.name]
            choices = [placed[view.of] + view.shift]
        elif buffer.pinned is not None:
            choices = [buffer.pinned]
        elif buffer.size == 0:
            choices = [0]
        else:
            choices = list(range(0, capacity - buffer.size + 1, buffer.align))
        for offset in choices:
            if buffer.size and offset + buffer.size > capacity:
                continue
            if all(apart(other, placed[other.name], buffer, offset) for other in buffers[: len(placed)]):
                if fits({**placed, buffer.name: offset}, capacity):
                    return True
        return False

    return next(capacity for capacity in range(total + 1) if fits({}, capacity))


@pytest.fixture
def small_problem() -> Callable[..., PlacementProblem]:
    return random_problem


@pytest.fixture
def network() -> Callable[[str, int, int], PlacementProblem]:
    return network_graph


@pytest.fixture
def brute_force() -> Callable[[PlacementProblem], int]:
    return smallest_peak
