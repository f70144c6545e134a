"""What is left out of a question fits afterwards, wherever the rest lies."""

from __future__ import annotations

import random
from collections.abc import Callable

from tilewright.memory.allocators.core import split
from tilewright.memory.allocators.first_fit import UNPLACED, lowest_place
from tilewright.memory.bound import live_bound
from tilewright.memory.packing import Packing, normalise
from tilewright.memory.problem import Buffer, PlacementProblem


def scattered(packing: Packing, core: list[int], capacity: int, dice: random.Random) -> list[int] | None:
    """The core at random places within the capacity, or None where the dice found none."""
    offsets = [UNPLACED] * len(packing.items)
    for index in core:
        item = packing.items[index]
        places = [item.pinned] if item.pinned is not None else range(0, packing.highest(item, capacity) + 1, item.align)
        free = [
            place
            for place in places
            if not any(
                offsets[rival.other] >= 0
                and offsets[rival.other] + rival.low < place < offsets[rival.other] + rival.high
                for rival in packing.rivals[index]
            )
        ]
        if not free:
            return None
        offsets[index] = dice.choice(free)
    return offsets


def test_what_is_left_out_always_fits(small_problem: Callable[..., PlacementProblem]) -> None:
    tried = 0
    for seed in range(300):
        packing = normalise(small_problem(seed, buffers=8))
        dice = random.Random(seed)
        for slack in (0, 2, 6):
            capacity = live_bound(packing) + slack
            core, later = split(packing, capacity)
            assert sorted([*core, *later]) == list(range(len(packing.items)))
            offsets = scattered(packing, core, capacity, dice)
            if offsets is None or not later:
                continue
            tried += 1
            for index in reversed(later):
                offsets[index] = lowest_place(packing, offsets, index)
                assert offsets[index] <= packing.highest(packing.items[index], capacity)
    assert tried > 300


def test_only_the_crowd_remains() -> None:
    crowd = [Buffer(f"big{index}", 0, 3, 10) for index in range(3)]
    alone = [Buffer(f"late{index}", 3 + index, 5 + index, 5) for index in range(20)]
    core, later = split(normalise(PlacementProblem((*crowd, *alone))), 30)
    assert (len(core), len(later)) == (3, 20)
