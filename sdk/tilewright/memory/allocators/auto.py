"""The default: cheap proofs first, complete searches next, and what is left of the gap said openly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.memory.allocators import canonical, cp_sat, descent, distances, greedy
from tilewright.memory.allocators.allocator import Allocator, Answer, Found, Task, close
from tilewright.memory.packing import Packing

GLANCE = 0.02  # of the effort: enough for a search of our own on most networks, without loading a solver
TRY = 0.2  # of the effort: enough for CP-SAT where it succeeds at all


def place(task: Task) -> Found:
    """Greedy orders, a glance of a complete search, CP-SAT, all of the canonical search, descent."""
    best = greedy.place(task)
    if task.packing.crowd > greedy.CROWDED:
        return replace(best, cut_off=best.peak > max(task.enough, best.bound))
    # Where the canonical search has tried everything it can, CP-SAT has nothing to add but on odd shapes.
    simple = task.packing.is_rectangles()
    first, last = (canonical.decide, canonical.decide) if simple else (distances.decide, cp_sat.decide)
    searches: list[tuple[float, Callable[[Packing, int, float], Answer]]]
    searches = [(GLANCE, first), (TRY, cp_sat.decide), (1.0, last)]
    if simple and task.enough > best.bound:
        searches = [(GLANCE, last), (1.0, last), (TRY, cp_sat.decide)]  # packed less tightly, CP-SAT only gets lost
    for share, decide in searches:
        if best.peak > max(task.enough, best.bound):
            best = close(replace(task, effort=task.effort * share), best, decide)
    if best.peak > max(task.enough, best.bound):
        best = descent.descend(task, descent.climb(task, best))
    return best


ALLOCATOR = Allocator("auto", "greedy orders, then complete searches at the bound, then descent", place)
