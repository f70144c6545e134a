"""The rule of Deeploy's TetrisRandom: in one shuffled order, each buffer on top of all earlier ones it lives with."""

from __future__ import annotations

import random

from tilewright.memory.allocators.allocator import Allocator, Found, Task, placed_at
from tilewright.memory.allocators.naive import ground

SEED = 1996080121  # the one that Deeploy fixes


def place(task: Task) -> Found:
    """One shuffle, no holes filled; pinned items lie where they must and the others above them."""
    packing = task.packing
    order = list(range(len(packing.items)))
    random.Random(SEED).shuffle(order)
    offsets = [-1 if item.pinned is None else item.pinned for item in packing.items]
    for index in order:
        item = packing.items[index]
        if item.pinned is not None:
            continue
        below = [rival for rival in packing.rivals[index] if offsets[rival.other] >= 0]
        top = max((offsets[rival.other] + rival.high for rival in below), default=0)
        offsets[index] = -(-max(top, ground(packing), 0) // item.align) * item.align
    return placed_at(packing, offsets, task.bound)


ALLOCATOR = Allocator("tetris", "as Deeploy's TetrisRandom does: shuffled, stacked, no hole filled", place, whole=True)
