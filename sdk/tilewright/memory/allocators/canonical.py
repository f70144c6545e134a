"""Canonical search at one capacity after another: native where a C compiler is there, else a portable twin."""

from __future__ import annotations

import sys
from functools import partial

from tilewright.memory import canonical_search, native
from tilewright.memory.allocators import greedy
from tilewright.memory.allocators.allocator import Allocator, Answer, Found, Task, close
from tilewright.memory.allocators.core import decide_core, split
from tilewright.memory.canonical_search import Outcome, Rectangles
from tilewright.memory.packing import Packing, alive_together

# Buffers looked at per unit of effort, each about two seconds' worth at most.
NATIVE_WORK = 300_000_000
PORTABLE_WORK = 1_500_000
CORE_FIRST, WHOLE_NEXT = 0.1, 0.5  # parts of the work
DEEPEST = 10_000  # the search calls itself once per buffer


def decide(packing: Packing, capacity: int, effort: float, seed: int = 0) -> Answer:
    """Whether a packing whose core is rectangles fits into `capacity` bytes; no answer at the end of the work.

    The work limit is deterministic, but smaller where there is no C compiler. Another `seed` tries another order.
    """
    ask = partial(_decide, seed=seed)
    if not packing.is_rectangles() or not split(packing, capacity)[1]:
        return decide_core(packing, capacity, effort, ask)
    # Which of the two questions falls is luck: a little for the core, more for the whole, the rest for the core.
    answer, spent = decide_core(packing, capacity, effort * CORE_FIRST, ask), 0.0
    for share, question in ((WHOLE_NEXT, ask), (1 - CORE_FIRST - WHOLE_NEXT, partial(decide_core, ask=ask))):
        spent += answer.work
        if answer.offsets is not None or answer.impossible:
            break
        answer = question(packing, capacity, effort * share)
    else:
        spent += answer.work
    return Answer(answer.offsets, answer.impossible, spent)


def place(task: Task) -> Found:
    """Starts from the greedy result and closes the gap from the bound upwards."""
    return close(task, greedy.place(task), decide)


def _decide(packing: Packing, capacity: int, effort: float, seed: int) -> Answer:
    """The question for a core that lives together; no answer for what is not made of rectangles."""
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
