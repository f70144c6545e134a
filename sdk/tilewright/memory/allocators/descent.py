"""Anytime descent: better first-fit orders by hill climbing, then many short yes/no questions below the best peak."""

from __future__ import annotations

import random

from tilewright.memory.allocators import canonical, cp_sat, greedy
from tilewright.memory.allocators.allocator import Allocator, Found, Task, placed_at
from tilewright.memory.allocators.first_fit import first_fit
from tilewright.memory.bound import next_peak
from tilewright.memory.packing import Packing

CLIMBING_WORK = 60_000  # placements of one item per unit of effort


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
            best = placed_at(packing, offsets, best.bound)
    return best


def descend(task: Task, best: Found) -> Found:
    """Asks for peaks between the bound and the best, from below, with little work each and a new seed every round.

    Whether a capacity falls is a matter of luck more than of patience: one a little tighter is often easier.
    """
    rectangles = task.packing.is_rectangles()
    rungs, share = (24, 0.02) if rectangles else (6, 0.2)
    bound, left, seed = max(best.bound, task.bound), task.effort, 0
    while best.peak > max(bound, task.enough) and left > 0:
        for capacity in _ladder(task, best.peak, bound, rungs, seed):
            effort = task.effort * (share if capacity != task.wanted else 10 * share)
            if rectangles:
                answer = canonical.decide(task.packing, capacity, effort, seed)
            else:
                answer = cp_sat.decide(task.packing, capacity, effort)
            left -= max(answer.work, task.effort / 200)
            if answer.impossible:
                bound = next_peak(task.packing, max(bound, capacity))
            if answer.offsets is not None:
                best = placed_at(task.packing, answer.offsets, bound)
            if answer.offsets is not None or left <= 0:
                break
        seed += 1
        if seed > 1 and not rectangles:
            break  # the solver would only answer the same again
    return Found(best.offsets, best.peak, min(bound, best.peak))


def _ladder(task: Task, peak: int, bound: int, rungs: int, seed: int) -> list[int]:
    """Capacities below a peak, from the bound upwards; the wanted one first the first time."""
    base = max(bound, task.enough)
    ladder = sorted({base + (peak - 1 - base) * rung // rungs for rung in range(rungs + 1)})
    return [task.wanted, *ladder] if seed == 0 and task.wanted is not None and base < task.wanted < peak else ladder


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
