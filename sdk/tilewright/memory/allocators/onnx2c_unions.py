"""The rule of onnx2c: tensors share C unions, each as large as its largest tensor, one tensor at a time."""

from __future__ import annotations

import math

from tilewright.memory.allocators.allocator import Allocator, Found, Task, placed_at
from tilewright.memory.allocators.naive import ground


def place(task: Task) -> Found:
    """In the order of birth, each buffer takes the first union that is free; the unions lie one above the other."""
    packing = task.packing
    unions: list[list[int]] = []
    for index in sorted(range(len(packing.items)), key=lambda i: packing.items[i].lower):
        item = packing.items[index]
        if item.pinned is not None:
            continue
        free = next((u for u in unions if all(packing.items[other].upper <= item.lower for other in u)), None)
        if free is None:
            unions.append([index])
        else:
            free.append(index)
    offsets = [item.pinned or 0 for item in packing.items]
    top = ground(packing)
    for union in unions:
        align = math.lcm(*(packing.items[index].align for index in union))
        start = -(-top // align) * align
        for index in union:
            offsets[index] = start
        top = start + max(packing.items[index].size for index in union)
    return placed_at(packing, offsets, task.bound)


ALLOCATOR = Allocator("onnx2c_unions", "as onnx2c does: unions as large as their largest tensor", place, whole=True)
