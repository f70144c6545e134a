"""Placement against brute force, against network-like graphs, and its refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tilewright.errors import DoesNotFit, UsageError
from tilewright.memory.allocators.registry import allocators
from tilewright.memory.check import check
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, Overlap, PlacementProblem, View

Make = Callable[..., PlacementProblem]


@pytest.mark.parametrize("block", range(10))
def test_auto_equals_brute_force_with_every_feature(
    small_problem: Make, brute_force: Callable[[PlacementProblem], int], block: int
) -> None:
    for seed in range(12 * block, 12 * block + 12):
        problem = small_problem(seed)
        solution = place(problem)
        best = brute_force(problem)
        assert solution.lower_bound <= best, (seed, problem)
        assert solution.peak == best, (seed, problem)
        assert solution.status == "optimal", (seed, problem)


@pytest.mark.parametrize("name", sorted(allocators()))
def test_every_allocator_places_everything_rightly(small_problem: Make, name: str) -> None:
    for seed in range(60):
        problem = small_problem(seed, buffers=9)
        solution = place(problem, allocator=name, effort=0.05)
        check(problem, solution)
        assert solution.lower_bound <= solution.peak, (seed, problem)


@pytest.mark.parametrize("kind", ["residual", "wired", "skips", "heads"])
@pytest.mark.parametrize("count", [100, 500, 2000])
def test_networks_are_placed_optimally(
    network: Callable[[str, int, int], PlacementProblem], kind: str, count: int
) -> None:
    solution = place(network(kind, count, count))
    assert solution.status == "optimal"


def test_the_same_problem_gives_the_same_offsets(small_problem: Make) -> None:
    problem = small_problem(3, buffers=12, rich=False)
    assert place(problem) == place(problem)


def test_an_in_place_output_costs_nothing() -> None:
    buffers = (Buffer("x", 0, 2, 100), Buffer("y", 1, 3, 100))
    assert place(PlacementProblem(buffers)).peak == 200
    assert place(PlacementProblem(buffers, None, (Overlap("x", "y", 0),))).peak == 100


def test_an_output_overlaps_its_input_by_what_the_kernel_proves() -> None:
    problem = PlacementProblem((Buffer("x", 0, 2, 100), Buffer("y", 1, 3, 90)), None, (Overlap("x", "y", 20),))
    solution = place(problem)
    assert (solution.peak, solution.status) == (120, "optimal")
    assert solution.offsets["y"] + 20 <= solution.offsets["x"]


def test_a_view_lies_on_what_it_shows() -> None:
    buffers = (Buffer("x", 0, 3, 64), Buffer("slice", 3, 9, 16, 4), Buffer("other", 2, 9, 32))
    solution = place(PlacementProblem(buffers, None, (), (View("slice", "x", 48),)))
    assert solution.offsets["slice"] == solution.offsets["x"] + 48
    assert solution.peak == 96


def test_parts_of_a_concatenation_leave_the_rest_to_others() -> None:
    # While only the part lives, the other half of the result's place is free for `early`.
    buffers = (Buffer("part", 0, 6, 50), Buffer("whole", 5, 9, 100), Buffer("early", 1, 4, 50))
    assert place(PlacementProblem(buffers, None, (), (View("part", "whole"),))).peak == 100


def test_alignment_padding_above_the_last_buffer_is_not_counted() -> None:
    solution = place(PlacementProblem((Buffer("a", 0, 1, 5, 4), Buffer("b", 0, 1, 5, 4))))
    assert (solution.peak, solution.lower_bound) == (13, 13)


def test_too_small_a_level_says_how_much_when_and_who() -> None:
    problem = PlacementProblem((Buffer("big", 0, 3, 60), Buffer("mid", 2, 4, 30), Buffer("small", 3, 5, 10)), 80)
    with pytest.raises(DoesNotFit) as caught:
        place(problem)
    assert str(caught.value) == (
        "arena has 80 bytes and 90 are needed, 10 too few: at step 2 these are alive: 'big' 60, 'mid' 30 "
        "(90 bytes together); "
        "no placement needs less than 90; give arena 90 bytes or shrink one of these buffers"
    )
    assert caught.value.smallest == {"arena": 90}


REFUSED = [
    (PlacementProblem((Buffer("a", 0, 1, -4),)), "buffer 'a' has -4 bytes: a size cannot be negative"),
    (
        PlacementProblem((Buffer("a", 5, 5, 4),)),
        "buffer 'a' lives in [5, 5): it dies before it is born; make upper greater than lower",
    ),
    (
        PlacementProblem((Buffer("a", 0, 1, 4), Buffer("a", 0, 1, 4))),
        "two buffers are named 'a'; give every buffer a name of its own",
    ),
    (PlacementProblem((Buffer("a", 0, 1, 4, 0),)), "buffer 'a' has alignment 0: an alignment is 1 or more"),
    (
        PlacementProblem((Buffer("a", 0, 1, 4, 4, 6),)),
        "buffer 'a' is pinned at 6: a place is a multiple of the buffer's alignment 4 and not negative",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8, 1, 0), Buffer("b", 2, 6, 8, 1, 4))),
        "the pins of 'a' at 0 and 'b' at 4 overlap: both live at 2 and 'a' has 8 bytes; move one of the pins",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 2, 6, 8)), None, (Overlap("a", "b", 0),)),
        "'b' may not overlap 'a': 'a' lives in [0, 4) and is still read after 'b' is written at 2; "
        "permit an overlap only with a buffer that dies in that step",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 0, 4, 8)), None, (), (View("a", "b"), View("b", "a"))),
        "the views a -> b -> a form a cycle: none of its buffers owns the bytes; make one a buffer",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 0, 4, 4)), None, (), (View("b", "a", 6),)),
        "view 'b' shows bytes 6 to 10 of 'a': 'a' has 8 bytes",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 0, 4, 4, 4)), None, (), (View("b", "a", 2),)),
        "view 'b' starts 2 bytes into 'a': that is not a multiple of its alignment 4",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8), Buffer("b", 6, 7, 4)), None, (), (View("b", "a"),)),
        "view 'b' lives in [6, 7) but 'a' in [0, 4): between the two nobody keeps the bytes",
    ),
    (
        PlacementProblem((Buffer("a", 0, 4, 8, 1, 0), Buffer("b", 0, 4, 4, 1, 8)), None, (), (View("b", "a"),)),
        "'a' and 'b' are views of the same bytes: their pins contradict each other",
    ),
    (PlacementProblem((), -1), "the capacity is -1 bytes: it cannot be negative"),
]


@pytest.mark.parametrize(("problem", "sentence"), REFUSED)
def test_a_contradiction_is_refused_with_a_sentence(problem: PlacementProblem, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        place(problem)
    assert str(caught.value) == sentence


def test_an_unknown_allocator_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="there is no allocator 'magic'; take one of auto, "):
        place(PlacementProblem(()), allocator="magic")


def test_a_negative_effort_is_refused() -> None:
    with pytest.raises(UsageError, match=r"the effort is -1: it scales the work and cannot be negative"):
        place(PlacementProblem(()), effort=-1)


def test_nothing_to_place_needs_nothing() -> None:
    solution = place(PlacementProblem((Buffer("empty", 0, 1, 0),), 0))
    assert (solution.peak, solution.status, solution.offsets) == (0, "optimal", {"empty": 0})
