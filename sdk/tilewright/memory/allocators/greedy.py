"""Best of several first-fit orders: milliseconds, and the proven optimum for most networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.memory.allocators.allocator import Allocator, Found, Task, placed_at
from tilewright.memory.allocators.first_fit import first_fit
from tilewright.memory.allocators.sweep import sweep
from tilewright.memory.packing import Packing

CROWDED = 100_000
"""Pairs of buffers alive together from which on sweeps come first and nothing beyond first fit is tried."""
TOO_CROWDED = 2_000_000
"""Pairs from which on there is nothing but the sweeps."""


def orders(packing: Packing) -> Iterator[list[int]]:
    """Orders of the items that are worth trying, the most successful first."""
    items = packing.items
    everything = range(len(items))
    crowd = _crowding(packing)
    span = [item.upper - item.lower for item in items]
    size = [item.size for item in items]
    area = [span[i] * size[i] for i in everything]
    yield sorted(everything, key=lambda i: (-size[i], items[i].lower))
    yield sorted(everything, key=lambda i: (-crowd[i], -size[i], -span[i]))
    yield sorted(everything, key=lambda i: (-crowd[i], -area[i], -size[i]))
    yield sorted(everything, key=lambda i: (-size[i], -area[i], -crowd[i]))
    yield sorted(everything, key=lambda i: (-area[i], items[i].lower))
    yield sorted(everything, key=lambda i: (-span[i], -size[i]))
    yield sorted(everything, key=lambda i: (-len(packing.rivals[i]), -size[i]))
    yield sorted(everything, key=lambda i: (items[i].lower, -size[i]))
    yield sorted(everything, key=lambda i: (-items[i].upper, -size[i]))


def place(task: Task) -> Found:
    """The best of all orders; stops at the first one that is good enough.

    Crowded packings are swept first, and of those that are too crowded no pair is looked at.
    """
    if task.packing.crowd > CROWDED:
        swept = _swept(task)
        if swept is not None and (swept.peak <= task.enough or swept.cut_off):
            return swept
    best = placed_at(task.packing, _certain(task.packing), task.bound)
    for order in orders(task.packing):
        if best.peak <= task.enough:
            break
        offsets = first_fit(task.packing, order, best.peak - 1)
        if offsets is not None:
            best = placed_at(task.packing, offsets, task.bound)
    return best


def _swept(task: Task) -> Found | None:
    """The better sweep, to be taken as it is where the packing is too crowded for more; None where there is a pin."""
    tried = [sweep(task.packing), sweep(task.packing, backwards=True)]
    results = [placed_at(task.packing, offsets, task.bound) for offsets in tried if offsets is not None]
    best = min(results, key=lambda each: each.peak, default=None)
    too_many = task.packing.crowd > TOO_CROWDED
    return None if best is None else replace(best, cut_off=too_many and best.peak > task.enough)


def _certain(packing: Packing) -> list[int]:
    """A placement that always exists: first fit in the given order."""
    offsets = first_fit(packing, range(len(packing.items)))
    assert offsets is not None, "first fit without a limit places everything"
    return offsets


def _crowding(packing: Packing) -> list[int]:
    """For each item, the most units alive at once during its life."""
    times = sorted({time for item in packing.items for time in (item.lower, item.upper)})
    place = {time: index for index, time in enumerate(times)}
    change = [0] * (len(times) + 1)
    for item in packing.items:
        change[place[item.lower]] += item.size
        change[place[item.upper]] -= item.size
    alive, total = [], 0
    for step in change:
        total += step
        alive.append(total)
    return [max(alive[place[item.lower] : place[item.upper]]) for item in packing.items]


ALLOCATOR = Allocator("greedy", "the best of nine first-fit orders", place)
