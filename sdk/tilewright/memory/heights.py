"""How high the arena is filled at every instruction."""

from __future__ import annotations

import heapq

from tilewright.memory.placed import PlacedPlan


def heights(placed: PlacedPlan) -> list[int]:
    """Bytes up to the end of the highest buffer that is alive, by instruction."""
    instructions = max(1, len(placed.plan.instructions))
    starting = sorted(placed.regions, key=lambda region: region.first, reverse=True)
    alive: list[tuple[int, int]] = []
    tops = []
    for time in range(instructions):
        while starting and starting[-1].first <= time:
            region = starting.pop()
            heapq.heappush(alive, (-region.offset - -(-region.size // placed.align) * placed.align, region.last))
        while alive and alive[0][1] < time:
            heapq.heappop(alive)
        tops.append(-alive[0][0] if alive else 0)
    return tops


def moments_at_peak(placed: PlacedPlan) -> list[int]:
    """The instructions at which the arena is full to its peak."""
    return [time for time, height in enumerate(heights(placed)) if height >= placed.solution.peak]
