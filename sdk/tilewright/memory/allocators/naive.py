"""No reuse at all: every buffer has bytes of its own. What static arrays cost; the yardstick for the others."""

from __future__ import annotations

from tilewright.memory.allocators.allocator import Allocator, Found, Task, placed_at
from tilewright.memory.packing import Packing


def place(task: Task) -> Found:
    """One buffer above the other, in the problem's order, above all pinned ones."""
    packing = task.packing
    offsets, top = [], ground(packing)
    for item in packing.items:
        if item.pinned is not None:
            offsets.append(item.pinned)
            continue
        offsets.append(-(-top // item.align) * item.align)
        top = offsets[-1] + item.size
    return placed_at(packing, offsets, task.bound)


def ground(packing: Packing) -> int:
    """The end of the highest pinned item in units, 0 where nothing is pinned."""
    return max((item.pinned + item.size for item in packing.items if item.pinned is not None), default=0)


ALLOCATOR = Allocator("naive", "no reuse: every buffer has bytes of its own", place, whole=True)
