"""The search over who lies above whom: its yes and no are those of CP-SAT, whatever the shapes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tilewright.memory.allocators import cp_sat, distances
from tilewright.memory.bound import live_bound, next_peak
from tilewright.memory.packing import normalise
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, PlacementProblem


def test_yes_and_no_agree_with_cp_sat(small_problem: Callable[..., PlacementProblem]) -> None:
    answers = {True: 0, False: 0}
    for seed in range(120):
        packing = normalise(small_problem(seed, buffers=6))
        capacity = live_bound(packing)
        for _ in range(2):
            one, two = distances.decide(packing, capacity, 1.0), cp_sat.decide(packing, capacity, 1.0)
            assert (one.offsets is None, one.impossible) == (two.offsets is None, two.impossible), seed
            if one.offsets is not None:
                assert packing.peak(one.offsets) <= capacity, seed
            answers[one.impossible] += 1
            capacity = next_peak(packing, capacity)
    assert answers[True] >= 5
    assert answers[False] >= 5


def test_a_placement_has_its_place_checked(small_problem: Callable[..., PlacementProblem]) -> None:
    for seed in range(40):
        problem = small_problem(seed, buffers=6)
        assert place(problem, allocator="distances").peak == place(problem, allocator="cp_sat").peak, seed


def test_small_networks_are_placed_without_a_solver(
    small_problem: Callable[..., PlacementProblem], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the solver is asked")

    monkeypatch.setattr(cp_sat, "decide", never)
    for seed in range(40):
        assert place(small_problem(seed, buffers=6)).status == "optimal", seed


def test_it_stops_at_the_end_of_its_work() -> None:
    buffers = tuple(Buffer(f"b{index}", index // 2, index + 3, 5 + index * 3 % 7) for index in range(30))
    packing = normalise(PlacementProblem(buffers))
    answer = distances.decide(packing, live_bound(packing), 1e-5)
    assert (answer.offsets, answer.impossible) == (None, False)
