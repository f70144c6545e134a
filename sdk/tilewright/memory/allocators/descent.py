"""Anytime descent: better first-fit orders by hill climbing, then yes/no questions at lower and lower capacities."""

from __future__ import annotations

import random

from tilewright.memory.allocators import canonical, cp_sat, greedy
from tilewright.memory.allocators.allocator import Allocator, Answer, Found, Task, found
from tilewright.memory.allocators.first_fit import first_fit
from tilewright.memory.bound import next_peak
from tilewright.memory.packing import Packing

CLIMBING_WORK = 60_000  # placements of one item per unit of effort
FINEST = 256  # the descent ends when a step is less than this part of the peak


def place(task: Task) -> Found:
    """Greedy, climbed, descended."""
    return descend(task, climb(task, greedy.place(task)))


def climb(task: Task, best: Found) -> Found:
    """Moves items of the highest stack to other places of the first-fit order, and keeps what is not worse."""
    packing = task.packing
    count = len(packing.items)
    dice = random.Random(count)
    order = sorted(range(count), key=lambda index: (best.offsets[index], index))
    offsets, peak = list(best.offsets), best.peak
    for _ in range(int(task.effort * CLIMBING_WORK / max(count, 1))):
        if best.peak <= task.enough:
            break
        changed = _changed(packing, order, offsets, peak, dice)
        placed = first_fit(packing, changed, peak)
        if placed is None:
            continue
        order, offsets, peak = changed, placed, packing.peak(placed)
        if peak < best.peak:
            best = found(packing, offsets, best.bound)
    return best


def descend(task: Task, best: Found) -> Found:
    """Asks for a peak in the middle between the bound and the best; a question without an answer raises the middle."""
    bound, tried, left = max(best.bound, task.bound), max(best.bound, task.enough), task.effort
    while best.peak > max(bound, task.enough) and left > 0 and best.peak - tried > best.peak // FINEST:
        capacity = max((tried + best.peak) // 2, bound)
        if task.wanted is not None and tried < task.wanted < best.peak:
            capacity = max(task.wanted, bound)
        answer = _decide(task.packing, capacity, min(left, task.effort / 3))
        left -= max(answer.work, task.effort / 100)
        if answer.offsets is not None:
            best = found(task.packing, answer.offsets, bound)
            continue
        if answer.impossible:
            bound = next_peak(task.packing, capacity)
        tried = max(capacity, bound)
    return Found(best.offsets, best.peak, min(bound, best.peak))


def _decide(packing: Packing, capacity: int, effort: float) -> Answer:
    """The canonical search where the packing is made of rectangles, else CP-SAT."""
    if packing.is_rectangles():
        return canonical.decide(packing, capacity, effort)
    return cp_sat.decide(packing, capacity, effort)


def _changed(packing: Packing, order: list[int], offsets: list[int], peak: int, dice: random.Random) -> list[int]:
    """The order with one item of the highest stack, or a rival of it, moved forward or exchanged."""
    tops = [i for i, item in enumerate(packing.items) if packing.top(item, offsets[i]) == peak]
    top = dice.choice(tops)
    rivals = packing.rivals[top]
    moved = top if not rivals or dice.random() < 0.5 else dice.choice(rivals).other
    changed = list(order)
    place_in_order = changed.index(moved)
    if place_in_order and dice.random() < 0.6:
        changed.insert(dice.randrange(place_in_order), changed.pop(place_in_order))
    else:
        other = dice.randrange(len(order))
        changed[place_in_order], changed[other] = changed[other], changed[place_in_order]
    return changed


ALLOCATOR = Allocator("descent", "hill climbing over orders, then lower and lower capacities", place)
