"""The rule of TensorFlow Lite for Microcontrollers' GreedyMemoryPlanner: by decreasing size into the first gap."""

from __future__ import annotations

from tilewright.memory.allocators.allocator import Allocator, Found, Task, placed_at
from tilewright.memory.allocators.first_fit import first_fit


def place(task: Task) -> Found:
    """One first-fit pass in the order of decreasing size, earlier buffers first among equals."""
    items = task.packing.items
    offsets = first_fit(task.packing, sorted(range(len(items)), key=lambda i: (-items[i].size, items[i].lower)))
    assert offsets is not None, "first fit without a limit places everything"
    return placed_at(task.packing, offsets, task.bound)


ALLOCATOR = Allocator("tflm_greedy", "as TFLM does: decreasing size, first gap", place, whole=True)
