"""First fit along time: where thousands of items are alive at once, without a look at their pairs.

Items come in order of birth, or backwards in order of death, and each takes the lowest gap that is free then. What a
permitted overlap would share is not shared, and the views of an item keep its bytes from the first to the last of them.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left

from tilewright.memory.packing import Packing


def sweep(packing: Packing, backwards: bool = False) -> list[int] | None:
    """An offset in units for every item; None where one of them is pinned."""
    if any(item.pinned is not None for item in packing.items):
        return None
    lives = [(-i.upper, -i.lower) if backwards else (i.lower, i.upper) for i in packing.items]
    free = _Free()
    offsets = [0] * len(packing.items)
    alive: list[tuple[int, int]] = []
    for index in sorted(range(len(lives)), key=lambda index: (lives[index][0], index)):
        while alive and alive[0][0] <= lives[index][0]:
            _, gone = heapq.heappop(alive)
            free.release(offsets[gone], offsets[gone] + packing.items[gone].size)
        item = packing.items[index]
        offsets[index] = free.take(item.size, item.align)
        heapq.heappush(alive, (lives[index][1], index))
    return offsets


class _Free:
    """The gaps in ascending order; the last one has no end."""

    def __init__(self) -> None:
        self._gaps: list[tuple[int, float]] = [(0, math.inf)]

    def take(self, size: int, align: int) -> int:
        """The lowest aligned place of `size` units, which are no longer free."""
        for number, (low, high) in enumerate(self._gaps):
            place = -(-low // align) * align
            if place + size <= high:
                self._gaps[number : number + 1] = [
                    gap for gap in ((low, float(place)), (place + size, high)) if gap[0] < gap[1]
                ]
                return place
        raise AssertionError("the last gap has no end")

    def release(self, low: int, high: float) -> None:
        """Put units back, as one gap with those beside them."""
        place = bisect_left(self._gaps, (low, high))
        first = last = place
        if place and self._gaps[place - 1][1] == low:
            first, low = place - 1, self._gaps[place - 1][0]
        if self._gaps[place][0] == high:
            last, high = place + 1, self._gaps[place][1]
        self._gaps[first:last] = [(low, high)]
