"""Complete search over who lies above whom, for the few odd shapes of a small network.

Two rivals keep one of two distances: the one lies high enough above the other, or low enough below it. With one of them
chosen for some pairs, what is left are difference constraints, whose least solution is a longest path (Bellman-Ford;
Cormen et al., Introduction to Algorithms, 22.4). A pair that its least offsets violate is decided both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.memory.allocators import greedy
from tilewright.memory.allocators.allocator import Allocator, Answer, Found, Task, close
from tilewright.memory.allocators.core import decide_core
from tilewright.memory.packing import Packing

WORK = 3_000_000  # pairs looked at and offsets raised per unit of effort, about a second's worth

Edges = tuple[tuple[tuple[int, int], ...], ...]
"""By item: the items above it, each with the units that it keeps from this item's offset."""


@dataclass
class Search:
    """The question whether a packing fits, with offsets between `lowest` and `highest` in units and `work` left."""

    packing: Packing
    lowest: list[int]
    highest: list[int]
    work: int
    pairs: list[tuple[int, int, int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = [
            (index, rival.other, rival.low, rival.high)
            for index, rivals in enumerate(self.packing.rivals)
            for rival in rivals
            if rival.other < index
        ]

    def run(self) -> list[int] | None:
        """Offsets of a placement; None where none exists or no work is left."""
        waiting: list[tuple[list[int], Edges]] = [(self.lowest, tuple(() for _ in self.lowest))]
        while waiting and self.work > 0:
            offsets, edges = waiting.pop()
            violated = self._worst(offsets)
            if violated is None:
                return offsets
            index, other, low, high = violated
            for below, above, distance in ((index, other, -low), (other, index, high)):
                wider = (*edges[:below], (*edges[below], (above, distance)), *edges[below + 1 :])
                raised = self._raised(offsets, wider, below)
                if raised is not None:
                    waiting.append((raised, wider))
        return None

    def _worst(self, offsets: Sequence[int]) -> tuple[int, int, int, int] | None:
        """The violated pair that must move furthest whichever way it is decided."""
        worst, furthest = None, 0
        self.work -= len(self.pairs)
        for pair in self.pairs:
            index, other, low, high = pair
            distance = offsets[index] - offsets[other]
            move = min(high - distance, distance - low)
            if move > furthest:
                worst, furthest = pair, move
        return worst

    def _raised(self, offsets: Sequence[int], edges: Edges, start: int) -> list[int] | None:
        """The least offsets that keep all distances again, once the edges of `start` grew; None if there are none."""
        least, changed = list(offsets), [start]
        while changed:
            below = changed.pop()
            for above, distance in edges[below]:
                align = self.packing.items[above].align
                wanted = -(-(least[below] + distance) // align) * align
                if wanted > least[above]:
                    self.work -= 1
                    if wanted > self.highest[above] or self.work <= 0:
                        return None
                    least[above] = wanted
                    changed.append(above)
        return least


def decide(packing: Packing, capacity: int, effort: float) -> Answer:
    """Whether the packing fits into `capacity` bytes; no answer at the end of the work, which is deterministic."""
    return decide_core(packing, capacity, effort, _decide)


def place(task: Task) -> Found:
    """Starts from the greedy result and closes the gap from the bound upwards."""
    return close(task, greedy.place(task), decide)


def _decide(packing: Packing, capacity: int, effort: float) -> Answer:
    """The question for a core that lives together."""
    pins = [item.pinned for item in packing.items]
    tops = [packing.highest(item, capacity) for item in packing.items]
    highest = [top if pin is None else min(pin, top) for pin, top in zip(pins, tops, strict=True)]
    lowest = [pin or 0 for pin in pins]
    if any(low > high for low, high in zip(lowest, highest, strict=True)):
        return Answer(None, True, 0.0)
    work = int(effort * WORK)
    search = Search(packing, lowest, highest, work)
    offsets = search.run()
    spent = (work - search.work) / WORK
    if offsets is None:
        return Answer(None, search.work > 0, spent)
    return Answer(tuple(offsets), False, spent)


ALLOCATOR = Allocator("distances", "complete search over the order of every two rivals", place)
