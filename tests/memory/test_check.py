"""The checker accepts what is right and rejects every corruption of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tilewright.memory.check import WrongPlacement, check
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, Overlap, PlacementProblem, PlacementSolution, View


def apart(problem: PlacementProblem, offsets: dict[str, int]) -> bool:
    """Whether offsets are right, said in the dumbest way: byte by byte, moment by moment."""
    views = {view.name: view for view in problem.views}
    gaps = {(overlap.earlier, overlap.later): overlap.gap for overlap in problem.overlaps}
    for b in problem.buffers:
        at = offsets[b.name]
        if at < 0 or at % b.align or (b.pinned is not None and at != b.pinned):
            return False
        if b.name in views and at != offsets[views[b.name].of] + views[b.name].shift:
            return False
    for b in problem.buffers:
        for c in problem.buffers:
            related = views.get(b.name, View("", "")).of == c.name or views.get(c.name, View("", "")).of == b.name
            moments = set(range(b.lower, b.upper)) & set(range(c.lower, c.upper))
            bytes_b = set(range(offsets[b.name], offsets[b.name] + b.size))
            bytes_c = set(range(offsets[c.name], offsets[c.name] + c.size))
            if b.name >= c.name or related or not moments or not bytes_b & bytes_c:
                continue
            one, two = gaps.get((b.name, c.name)), gaps.get((c.name, b.name))
            if one is not None and offsets[c.name] + one <= offsets[b.name]:
                continue
            if two is not None and offsets[b.name] + two <= offsets[c.name]:
                continue
            return False
    return True


def test_every_moved_buffer_is_rejected_unless_it_is_still_right(
    small_problem: Callable[..., PlacementProblem],
) -> None:
    rejected = 0
    for seed in range(80):
        problem = small_problem(seed, buffers=6)
        solution = place(problem)
        for name, offset in solution.offsets.items():
            for moved in {offset + step for step in (-4, -2, -1, 1, 2, 4)} | {0}:
                offsets = {**solution.offsets, name: moved}
                peak = max((offsets[b.name] + b.size for b in problem.buffers if b.size), default=0)
                mutant = replace(solution, offsets=offsets, peak=peak)
                if apart(problem, offsets):
                    if peak >= solution.lower_bound:
                        check(problem, mutant)
                    continue
                rejected += 1
                with pytest.raises(WrongPlacement):
                    check(problem, mutant)
    assert rejected > 500


def test_every_other_corruption_is_rejected(small_problem: Callable[..., PlacementProblem]) -> None:
    for seed in range(40):
        problem = small_problem(seed, buffers=6)
        good = place(problem)
        first = problem.buffers[0].name
        mutants: list[PlacementSolution] = [
            replace(good, peak=good.peak + 1),
            replace(good, peak=good.peak - 1),
            replace(good, lower_bound=good.peak + 1),
            replace(good, lower_bound=-1),
            replace(good, bound_by="faith"),
            replace(good, bound_by="search" if good.bound_by == "live set" else "live set"),
            replace(good, offsets={**good.offsets, "stranger": 0}),
            replace(good, offsets={name: at for name, at in good.offsets.items() if name != first}),
        ]
        for mutant in mutants:
            with pytest.raises(WrongPlacement):
                check(problem, mutant)
        if good.peak:
            with pytest.raises(WrongPlacement):
                check(replace(problem, capacity=good.peak - 1), good)


def test_the_sentence_names_both_buffers() -> None:
    problem = PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 3, 5, 8)))
    with pytest.raises(WrongPlacement) as caught:
        check(problem, PlacementSolution({"a": 0, "b": 4}, 12, 12, "hand"))
    assert str(caught.value) == "'a' at [0, 8) and 'b' at [4, 12) share bytes: both are alive at step 3"


def test_a_permitted_overlap_in_the_wrong_direction_is_rejected() -> None:
    problem = PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 3, 5, 8)), None, (Overlap("a", "b", 2),))
    check(problem, PlacementSolution({"a": 2, "b": 0}, 10, 10, "hand"))
    with pytest.raises(WrongPlacement, match="the permitted overlap asks for another order"):
        check(problem, PlacementSolution({"a": 0, "b": 2}, 10, 10, "hand"))
