"""Canonical search at one capacity after another: native where a C compiler is there, else a portable twin."""

from __future__ import annotations

import sys

from tilewright.memory import canonical_search, native
from tilewright.memory.allocators import greedy
from tilewright.memory.allocators.allocator import Allocator, Answer, Found, Task, close
from tilewright.memory.canonical_search import Outcome, Rectangles
from tilewright.memory.packing import Packing, alive_together

# Buffers looked at per unit of effort, each about two seconds' worth at most.
NATIVE_WORK = 300_000_000
PORTABLE_WORK = 1_500_000
DEEPEST = 10_000  # the search calls itself once per buffer


def decide(packing: Packing, capacity: int, effort: float, seed: int = 0) -> Answer:
    """Whether a packing of rectangles fits into `capacity` bytes; no answer at the end of the work.

    The work limit is deterministic, but smaller where there is no C compiler. Another `seed` tries another order.
    """
    if len(packing.items) > DEEPEST or not packing.is_rectangles():
        return Answer(None, False, effort)
    rectangles = _rectangles(packing, capacity, seed)
    if any(high < low for low, high in zip(rectangles.lowest, rectangles.highest, strict=True)):
        return Answer(None, True, 0.0)
    work = int(effort * NATIVE_WORK)
    answer = native.search(rectangles, work)
    if answer is not None:
        outcome, offsets, left = answer
        spent = (work - left) / NATIVE_WORK
    else:
        outcome, offsets, spent = _portable(rectangles, effort)
    return Answer(tuple(offsets) if outcome is Outcome.FOUND else None, outcome is Outcome.IMPOSSIBLE, spent)


def place(task: Task) -> Found:
    """Starts from the greedy result and closes the gap from the bound upwards."""
    return close(task, greedy.place(task), decide)


def _portable(rectangles: Rectangles, effort: float) -> tuple[Outcome, list[int], float]:
    """The twin, with room for its recursion."""
    work = int(effort * PORTABLE_WORK)
    search = canonical_search.Search(rectangles, work)
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, usual + 4 * len(rectangles.size)))
    try:
        outcome, offsets = search.run()
    finally:
        sys.setrecursionlimit(usual)
    return outcome, offsets, (work - search.work) / PORTABLE_WORK


def _rectangles(packing: Packing, capacity: int, seed: int = 0) -> Rectangles:
    """The columns that the search reads."""
    sections = alive_together(packing)
    first, last = [len(sections)] * len(packing.items), [0] * len(packing.items)
    for place_in_time, alive in enumerate(sections):
        for index in alive:
            first[index] = min(first[index], place_in_time)
            last[index] = place_in_time + 1
    highest = [packing.highest(item, capacity) for item in packing.items]
    pins = [item.pinned for item in packing.items]
    return Rectangles(
        sections=len(sections),
        capacity=max((high + item.size for high, item in zip(highest, packing.items, strict=True)), default=0),
        first=first,
        last=last,
        size=[item.size for item in packing.items],
        align=[item.align for item in packing.items],
        lowest=[pin or 0 for pin in pins],
        highest=[high if pin is None or pin > high else pin for pin, high in zip(pins, highest, strict=True)],
        width=[item.upper - item.lower for item in packing.items],
        seed=seed,
    )


ALLOCATOR = Allocator("canonical", "canonical search from the bound upwards, after MiniMalloc", place)
