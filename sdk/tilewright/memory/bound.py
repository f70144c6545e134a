"""A lower bound of the peak: the most bytes that are alive at one moment, less what permitted overlaps can save."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.memory.packing import Item, Member, Packing


def live_bound(packing: Packing) -> int:
    """Bytes that no placement of the packing can stay below.

    At a moment, the units alive lie one above the other; only the topmost buffer may leave its padding unused. A point
    that several buffers share lies in all but one of them as the later of a permitted pair, and in all but one as the
    earlier, so that a moment saves at most, for each later (each earlier) buffer, the smaller of its size and the sum
    of its savings.
    """
    best = max((packing.top(item, item.pinned) for item in packing.items if item.pinned is not None), default=0)
    saved = _saved(packing)
    alive: list[tuple[int, int]] = []
    births = sorted((b.lower, i, m) for i, item in enumerate(packing.items) for m, b in enumerate(item.members))
    for place, (lower, i, m) in enumerate(births):
        alive.append((i, m))
        if place + 1 < len(births) and births[place + 1][0] == lower:
            continue
        alive = [(j, n) for j, n in alive if packing.items[j].members[n].upper > lower]
        padding = max(packing.items[j].members[n].padding for j, n in alive)
        units = _units(packing.items, alive) - saved.get(lower, 0)
        best = max(best, units * packing.unit - padding)
    return best


def next_peak(packing: Packing, above: int) -> int:
    """The smallest peak in bytes above `above` that offsets in whole units can give."""
    unit = packing.unit
    return min(above + 1 + (-(above + 1 + item.padding)) % unit for item in packing.items)


def _saved(packing: Packing) -> dict[int, int]:
    """Units that overlaps can save by moment."""
    later = _saved_by(packing, [(saving.moment, saving.later, saving.size) for saving in packing.savings])
    earlier = _saved_by(packing, [(saving.moment, saving.earlier, saving.size) for saving in packing.savings])
    return {moment: min(size, earlier[moment]) for moment, size in later.items()}


def _saved_by(packing: Packing, savings: Iterable[tuple[int, tuple[int, int], int]]) -> dict[int, int]:
    """Units saved by moment, counted at one side of each pair."""
    by_buffer: dict[tuple[int, tuple[int, int]], int] = {}
    for moment, buffer, size in savings:
        by_buffer[(moment, buffer)] = by_buffer.get((moment, buffer), 0) + size
    saved: dict[int, int] = {}
    for (moment, (i, m)), size in by_buffer.items():
        saved[moment] = saved.get(moment, 0) + min(size, packing.items[i].members[m].size)
    return saved


def _units(items: Sequence[Item], alive: Iterable[tuple[int, int]]) -> int:
    """Units that the buffers alive occupy; views of one item count their common bytes once."""
    by_item: dict[int, list[Member]] = {}
    for i, m in alive:
        by_item.setdefault(i, []).append(items[i].members[m])
    total = 0
    for members in by_item.values():
        end = 0
        for member in sorted(members, key=lambda found: found.shift):
            total += max(0, member.shift + member.size - max(end, member.shift))
            end = max(end, member.shift + member.size)
    return total
