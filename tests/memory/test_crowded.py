"""Thousands of buffers alive at once: placed by sweeps along time, and said where nothing more was tried."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from memory.networks import network_graph
from tilewright.intervals import Shelves, Span, covered
from tilewright.memory.allocators import greedy
from tilewright.memory.allocators.sweep import sweep
from tilewright.memory.bound import live_bound
from tilewright.memory.check import check
from tilewright.memory.packing import normalise
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, Overlap, PlacementProblem, PlacementSolution, View


def test_shelves_find_what_a_look_at_each_finds() -> None:
    dice = random.Random(7)
    shelves, there = Shelves(), dict[int, tuple[int, int]]()
    for key in range(400):
        start, size = dice.randrange(200), dice.choice([1, 2, 3, 40, 64, 150])
        shelves.add(start, start + size, key)
        there[key] = (start, start + size)
        if dice.random() < 0.4:
            gone = dice.choice(sorted(there))
            shelves.remove(*there.pop(gone), gone)
        low = dice.randrange(200)
        high = low + dice.randrange(1, 30)
        assert sorted(shelves.meeting(low, high)) == [k for k, (a, b) in sorted(there.items()) if a < high and low < b]


def test_what_is_covered_over_time_counts_every_byte_once() -> None:
    dice = random.Random(3)
    for _ in range(200):
        spans = []
        for _ in range(dice.randrange(1, 9)):
            start, lower = dice.randrange(6), dice.randrange(6)
            end, upper = start + dice.randrange(1, 5), lower + dice.randrange(1, 5)
            spans.append(Span(dice.randrange(2), start, end, lower, upper))
        by_hand = {
            moment: len({(s.home, at) for s in spans if s.lower <= moment < s.upper for at in range(s.start, s.end)})
            for moment in {s.lower for s in spans}
        }
        assert covered(spans) == by_hand


@pytest.mark.parametrize("kind", ["residual", "wired", "skips", "heads"])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_sweep_places_every_buffer_rightly(kind: str, backwards: bool) -> None:
    problem = network_graph(kind, 120, 1)
    packing = normalise(problem)
    offsets = sweep(packing, backwards)
    assert offsets is not None
    named = {item.members[0].name: at * packing.unit for item, at in zip(packing.items, offsets, strict=True)}
    bound = live_bound(packing)
    check(problem, PlacementSolution(named, packing.peak(offsets), bound, "greedy"))


def test_a_sweep_keeps_alignment_and_hulls_and_leaves_pins_to_others(
    small_problem: Callable[..., PlacementProblem],
) -> None:
    swept = 0
    for seed in range(200):
        problem = small_problem(seed, buffers=9)
        packing = normalise(problem)
        offsets = sweep(packing)
        assert (offsets is None) == any(item.pinned is not None for item in packing.items)
        for at, item in zip(offsets or (), packing.items, strict=offsets is not None):
            swept += 1
            assert at % item.align == 0
        for one, (low, item) in enumerate(zip(offsets or (), packing.items, strict=offsets is not None)):
            for high, other in zip((offsets or ())[one + 1 :], packing.items[one + 1 :], strict=False):
                apart = item.upper <= other.lower or other.upper <= item.lower
                assert apart or low + item.size <= high or high + other.size <= low
    assert swept > 300


def test_inputs_and_outputs_by_the_thousand_take_no_look_at_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 3000
    buffers = [Buffer(f"in{i}", 0, i + 1, 32, 16) for i in range(count)]
    buffers += [Buffer(f"out{i}", i, count, 32, 16) for i in range(count)]
    monkeypatch.setattr("tilewright.memory.packing._rivals", None)  # it would be called for every pair
    solution = place(PlacementProblem(tuple(buffers)))
    assert (solution.status, solution.peak, solution.cut_off) == ("optimal", 32 * (count + 1), False)


@pytest.mark.parametrize("wanted", ["auto", "greedy"])
def test_what_is_too_crowded_for_a_search_says_so(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    """The same network is placed by orders of first fit below a crowd, and by the sweeps alone above it."""
    problem = network_graph("wired", 200, 5)
    calm = place(problem, allocator=wanted)
    monkeypatch.setattr(greedy, "CROWDED", 10)
    searched = place(problem, allocator=wanted)
    monkeypatch.setattr(greedy, "TOO_CROWDED", 10)
    swept = place(problem, allocator=wanted)
    assert calm.lower_bound <= calm.peak <= searched.peak <= swept.peak
    assert not calm.cut_off
    assert swept.cut_off == (swept.peak > swept.lower_bound)
    assert swept.cut_off, "the example is too easy"


def test_the_bound_of_parts_of_one_buffer_counts_them_once() -> None:
    """A thousand parts of one concatenation, each overlapping what it was made of."""
    count, part = 1000, 16
    buffers = [Buffer("whole", count, count + 2, count * part, 16)]
    buffers += [Buffer(f"part{i}", i, count + 1, part, 16) for i in range(count)]
    buffers += [Buffer(f"made{i}", i, i + 1, part, 16) for i in range(count)]
    views = tuple(View(f"part{i}", "whole", i * part) for i in range(count))
    overlaps = tuple(Overlap(f"made{i}", f"part{i}", 0) for i in range(0, count, 2))
    solution = place(PlacementProblem(tuple(buffers), None, overlaps, views), allocator="greedy")
    assert solution.lower_bound == solution.peak == (count + 1) * part  # the last made one overlaps nothing
