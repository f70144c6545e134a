"""A lower bound of the peak: the most bytes that are alive at one moment, less what permitted overlaps can save."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from tilewright.intervals import Span, covered
from tilewright.memory.packing import Packing


def live_bound(packing: Packing) -> int:
    """Bytes that no placement of the packing can stay below.

    At a moment, the units alive lie one above the other; only the topmost buffer may leave its padding unused. A point
    that several buffers share lies in all but one of them as the later of a permitted pair, and in all but one as the
    earlier, so that a moment saves at most, for each later (each earlier) buffer, the smaller of its size and the sum
    of its savings.
    """
    pinned = max((packing.top(item, item.pinned) for item in packing.items if item.pinned is not None), default=0)
    return max(pinned, max(live_bounds(packing).values(), default=0))


def live_bounds(packing: Packing) -> dict[int, int]:
    """The same for the moments at which it changes, in order; each holds until the next."""
    saved = _saved(packing)
    spans = [
        Span(i, member.shift, member.shift + member.size, member.lower, member.upper)
        for i, item in enumerate(packing.items)
        for member in item.members
    ]
    waiting = sorted((b.lower, -b.padding, b.upper) for item in packing.items for b in item.members)[::-1]
    paddings: list[tuple[int, int]] = []
    bounds = {}
    for moment, units in covered(spans).items():
        while waiting and waiting[-1][0] <= moment:
            heapq.heappush(paddings, waiting.pop()[1:])
        while paddings and paddings[0][1] <= moment:
            heapq.heappop(paddings)
        padding = -paddings[0][0] if paddings else 0
        bounds[moment] = (units - saved.get(moment, 0)) * packing.unit - padding
    return bounds


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
