"""Canonical search for a placement below a fixed capacity: the portable twin of canonical.c.

Every placement can be pushed down, so it is enough to try buffers in the order of their offsets, each at the lowest
place that the ones below it leave (MiniMalloc, Moffitt, ASPLOS 2023). A branch dies as soon as what is left of some
section, a set of buffers alive together, no longer fits above its floor. Both twins visit the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum


class Outcome(Enum):
    """How a search ended: with offsets, with the proof that there are none, or at the end of its work."""

    IMPOSSIBLE = 0
    FOUND = 1
    STOPPED = 2


@dataclass(frozen=True)
class Rectangles:
    """Buffers as columns of numbers, all in units: buffer b lives in sections [first[b], last[b]).

    `lowest` and `highest` limit each offset and are equal for a pinned buffer; `width` is the lifetime, for ranking.
    Another `seed` tries another order.
    """

    sections: int
    capacity: int
    first: Sequence[int]
    last: Sequence[int]
    size: Sequence[int]
    align: Sequence[int]
    lowest: Sequence[int]
    highest: Sequence[int]
    width: Sequence[int]
    seed: int = 0


@dataclass
class _State:
    """What the search changes and undoes: places by buffer, floors and sums by section."""

    lowest: list[int]
    offset: list[int]
    floor: list[int]
    total: list[int]
    crossing: list[int]
    trail: list[tuple[list[int], int, int]] = field(default_factory=list)

    def set(self, values: list[int], index: int, value: int) -> None:
        self.trail.append((values, index, values[index]))
        values[index] = value

    def undo(self, mark: int) -> None:
        while len(self.trail) > mark:
            values, index, old = self.trail.pop()
            values[index] = old


class Search:
    """One search; `work` counts down the buffers that may still be looked at."""

    def __init__(self, problem: Rectangles, work: int) -> None:
        """Prepares who is alive with whom."""
        self.problem = problem
        self.work = work
        self.nodes = 0
        count = len(problem.size)
        self.members = [
            [b for b in range(count) if problem.first[b] <= t < problem.last[b]] for t in range(problem.sections)
        ]
        self.rivals = [[b for b in range(count) if a != b and self._meet(a, b)] for a in range(count)]

    def run(self) -> tuple[Outcome, list[int]]:
        """The outcome and, where there is one, an offset for every buffer."""
        count = len(self.problem.size)
        share, status, offsets = count, Outcome.STOPPED, []
        while status is Outcome.STOPPED and self.work > 0:
            share *= 2
            for ranking in RANKINGS:
                if status is Outcome.STOPPED and self.work > 0:
                    self.nodes = share
                    self.ranking = ranking
                    self.state = self._fresh()
                    status = self._solve_part(list(range(count)), 0, self.problem.sections, 0)
                    offsets = self.state.offset
        return status, offsets

    def _meet(self, a: int, b: int) -> bool:
        problem = self.problem
        return problem.first[a] < problem.last[b] and problem.first[b] < problem.last[a]

    def _fresh(self) -> _State:
        problem = self.problem
        total = [sum(problem.size[b] for b in members) for members in self.members]
        crossing = [sum(problem.last[b] > t + 1 for b in members) for t, members in enumerate(self.members)]
        return _State(list(problem.lowest), [-1] * len(problem.size), [0] * len(total), total, crossing)

    def _solve_part(self, buffers: list[int], begin: int, end: int, least: int) -> Outcome:
        """Ranks the buffers of a part anew, as what is left of a section weighs differently now, and searches it."""
        problem, total = self.problem, self.state.total

        def rank(b: int) -> tuple[int, int, int, int]:
            area = problem.width[b] * problem.size[b]
            key = self.ranking(problem.width[b], area, max(total[problem.first[b] : problem.last[b]]))
            one, two, three = (_shaken(value, b, place, problem.seed) for place, value in enumerate(key))
            return (-one, -two, -three, b)

        return self._descend(sorted(buffers, key=rank), begin, end, least, 0)

    def _descend(self, order: list[int], begin: int, end: int, least: int, least_rank: int) -> Outcome:
        """Depth first over the next buffer from the bottom; `order` holds the part's buffers by rank."""
        state, size = self.state, self.problem.size
        if self.nodes <= 0 or self.work <= 0:
            return Outcome.STOPPED
        self.nodes -= 1
        self.work -= len(order)
        unplaced = [(state.lowest[b], rank) for rank, b in enumerate(order) if state.offset[b] < 0]
        if not unplaced:
            return Outcome.FOUND
        # At the ceiling or above, a buffer would leave room for another one below it: not pushed down.
        ceiling = min(at + size[order[rank]] for at, rank in unplaced)
        for at, rank in sorted(entry for entry in unplaced if (least, least_rank) <= entry and entry[0] < ceiling):
            mark = len(state.trail)
            alive, covered = self._put(order[rank], begin, end)
            if alive:
                status = self._solve_rest(order, order[rank], begin, end, at, rank)
                if status is not Outcome.IMPOSSIBLE:
                    return status
            state.undo(mark)
            if alive and not covered:  # nothing lies above it, so it is not to blame
                break
        return Outcome.IMPOSSIBLE

    def _put(self, b: int, begin: int, end: int) -> tuple[bool, bool]:
        """Places a buffer at its lowest place; whether that can still work and whether anything lies above it."""
        state, problem = self.state, self.problem
        at = state.lowest[b]
        top = at + problem.size[b]
        state.set(state.offset, b, at)
        for t in range(problem.first[b], problem.last[b]):
            state.set(state.floor, t, top)
            state.set(state.total, t, state.total[t] - problem.size[b])
            if t + 1 < problem.last[b]:
                state.set(state.crossing, t, state.crossing[t] - 1)
        if any(max(state.floor[t], at) + state.total[t] > problem.capacity for t in range(begin, end)):
            return False, True
        covered = False
        touched: set[int] = set()
        for other in self.rivals[b]:
            if state.offset[other] >= 0:
                continue
            covered = True
            if state.lowest[other] >= top:
                continue
            place = -(-top // problem.align[other]) * problem.align[other]
            if place > problem.highest[other]:
                return False, True
            state.set(state.lowest, other, place)
            touched.update(range(problem.first[other], problem.last[other]))
        return not any(self._overfull(t, at) for t in sorted(touched)), covered

    def _overfull(self, section: int, at: int) -> bool:
        """Whether the unplaced buffers of a section, each from its lowest place, cannot all end below the capacity."""
        state, size = self.state, self.problem.size
        self.work -= len(self.members[section])
        end = max(at, state.floor[section])
        queue = sorted((state.lowest[b], b) for b in self.members[section] if state.offset[b] < 0)
        if queue and queue[0][0] > state.floor[section]:
            state.set(state.floor, section, queue[0][0])
        for low, b in queue:
            end = max(end, low) + size[b]
        return end > self.problem.capacity

    def _solve_rest(self, order: list[int], b: int, begin: int, end: int, least: int, least_rank: int) -> Outcome:
        """What is left after b was placed, cut at the sections that nothing unplaced crosses any more."""
        state, problem = self.state, self.problem
        cuts = [t + 1 for t in range(problem.first[b], problem.last[b] - 1) if state.crossing[t] == 0]
        if not cuts:
            return self._descend(order, begin, end, least, least_rank)
        for low, high in zip([begin, *cuts], [*cuts, end], strict=True):
            part = [o for o in order if state.offset[o] < 0 and problem.first[o] < high and problem.last[o] > low]
            status = self._solve_part(part, low, high, least) if part else Outcome.FOUND
            if status is not Outcome.FOUND:
                return status
        return Outcome.FOUND


def _shaken(key: int, b: int, place: int, seed: int) -> int:
    """A key of the ranking, by a seed other than 0 raised by up to 5 % so that searches for the same thing differ."""
    if seed == 0:
        return key
    mixed = ((b * 3 + place + 1) * 0x9E3779B97F4A7C15 & _WORD) ^ (seed * 0xD1B54A32D192ED03 & _WORD)
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 & _WORD
    return key * (128 + ((mixed ^ mixed >> 32) & 7))


_WORD = (1 << 64) - 1
RANKINGS: tuple[Callable[[int, int, int], tuple[int, int, int]], ...] = (
    lambda width, area, total: (width, area, total),
    lambda width, area, total: (total, area, width),
    lambda width, area, total: (total, width, area),
)
