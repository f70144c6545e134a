"""The default: cheap proofs first, complete searches next, and what is left of the gap said openly."""

from __future__ import annotations

from tilewright.memory.allocators import cp_sat, greedy
from tilewright.memory.allocators.allocator import Allocator, Found, Task


def place(task: Task) -> Found:
    """Greedy orders, then CP-SAT at the bound."""
    best = greedy.place(task)
    if best.peak <= task.enough:
        return best
    return cp_sat.place(task)


ALLOCATOR = Allocator("auto", "greedy orders, then CP-SAT at the bound", place)
