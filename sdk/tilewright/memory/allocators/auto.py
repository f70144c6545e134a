"""The default: cheap proofs first, complete searches next, and what is left of the gap said openly."""

from __future__ import annotations

from dataclasses import replace

from tilewright.memory.allocators import canonical, cp_sat, descent, greedy
from tilewright.memory.allocators.allocator import Allocator, Found, Task, close

GLANCE = 0.02  # of the effort: enough for the canonical search on most networks, without loading a solver


def place(task: Task) -> Found:
    """Greedy orders, a glance of the canonical search, CP-SAT, all of the canonical search, descent."""
    best = greedy.place(task)
    rectangles = task.packing.is_rectangles()
    if rectangles:
        best = close(replace(task, effort=task.effort * GLANCE), best, canonical.decide)
    if best.peak > max(task.enough, best.bound):
        best = close(task, best, cp_sat.decide)
    if best.peak > max(task.enough, best.bound) and rectangles:
        best = close(task, best, canonical.decide)
    if best.peak > max(task.enough, best.bound):
        best = descent.descend(task, descent.climb(task, best))
    return best


ALLOCATOR = Allocator("auto", "greedy orders, then complete searches at the bound, then descent", place)
