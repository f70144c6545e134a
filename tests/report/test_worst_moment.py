"""The moment of a level that the report shows: the first of those at which most bytes are in use."""

from __future__ import annotations

import random

from tilewright.memory.levels import _parts, _worst_parts
from tilewright.memory.placed import Region


def test_the_worst_moment_is_the_first_of_the_fullest() -> None:
    dice = random.Random(11)
    shared = 0
    for _ in range(400):
        regions = []
        for number in range(dice.randrange(0, 12)):
            first = dice.randrange(8)
            last, kind = first + dice.randrange(4), dice.choice(["io", "activations", "scratch"])
            regions.append(Region(f"r{number}", "ram", dice.randrange(6), dice.randrange(4), first, last, kind))
        moments = [[r for r in regions if r.first <= t <= r.last] for t in sorted({r.first for r in regions})]
        by_hand = max((_parts(alive) for alive in moments), key=lambda parts: sum(parts.values()), default=_parts([]))
        assert _worst_parts(regions) == by_hand
        shared += any(sum(r.size for r in alive) > sum(_parts(alive).values()) for alive in moments)
    assert shared > 100
