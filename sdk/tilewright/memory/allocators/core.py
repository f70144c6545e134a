"""Shrinks a yes/no question to its core: what can always be placed later is left out and put back afterwards."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.memory.allocators.allocator import Answer
from tilewright.memory.allocators.first_fit import UNPLACED, lowest_place
from tilewright.memory.packing import Packing, Rival, components


def decide_core(packing: Packing, capacity: int, effort: float, ask: Callable[[Packing, int, float], Answer]) -> Answer:
    """The answer of `ask` for each part of the core that lives apart from the others, completed to all items.

    A core that is impossible makes the whole impossible; a core that is placed makes the whole possible.
    """
    core, later = split(packing, capacity)
    offsets = [UNPLACED] * len(packing.items)
    inner, left = packing.select(core), effort
    for group in components(inner):
        answer = ask(inner.select(group), capacity, max(left, 0.0))
        left -= answer.work
        if answer.offsets is None:
            return Answer(None, answer.impossible, effort - left)
        for index, offset in zip(group, answer.offsets, strict=True):
            offsets[core[index]] = offset
    for index in reversed(later):
        offsets[index] = lowest_place(packing, offsets, index)
    return Answer(tuple(offsets), False, effort - left)


def split(packing: Packing, capacity: int) -> tuple[list[int], list[int]]:
    """The items of the core and the others, of which each one fits whatever the core and those after it do."""
    places: list[int] = []
    lost: list[int] = []
    for item, rivals in zip(packing.items, packing.rivals, strict=True):
        highest = packing.highest(item, capacity)
        free = 0 if item.pinned is not None or highest < 0 else highest // item.align + 1
        places.append(free)
        lost.append(sum(_forbidden(rival, item.align) for rival in rivals))
    easy = [index for index, free in enumerate(places) if lost[index] < free]
    gone = set(easy)
    for index in easy:  # grows while it is walked
        for rival in packing.rivals[index]:
            other = rival.other
            if other not in gone:
                lost[other] -= _forbidden(rival, packing.items[other].align)
                if lost[other] < places[other]:
                    gone.add(other)
                    easy.append(other)
    return [index for index in range(len(packing.items)) if index not in gone], easy


def _forbidden(rival: Rival, align: int) -> int:
    """The most aligned places that one rival can take away, wherever it lies."""
    return -(-(rival.high - rival.low - 1) // align)
