"""Which moment and which buffers are to blame for a peak."""

from __future__ import annotations

import pytest
from tilewright.errors import DoesNotFit
from tilewright.memory.blame import explain
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, PlacementProblem, PlacementSolution, View


def test_the_peak_is_where_most_bytes_live() -> None:
    problem = PlacementProblem(
        (Buffer("early", 0, 2, 10), Buffer("wide", 2, 5, 60), Buffer("deep", 3, 6, 30), Buffer("late", 6, 7, 20))
    )
    peak = explain(problem, place(problem))
    assert (peak.moment, peak.size, peak.live) == (3, 90, 90)
    assert [buffer.name for buffer in peak.buffers] == ["wide", "deep"]
    assert str(peak) == "at step 3 these are alive: 'wide' 60, 'deep' 30 (90 bytes together)"


def test_a_hole_is_not_counted_as_alive() -> None:
    problem = PlacementProblem((Buffer("low", 0, 2, 10), Buffer("high", 1, 3, 10)))
    peak = explain(problem, PlacementSolution({"low": 0, "high": 50}, 60, 20, "hand"))
    assert (peak.size, peak.live) == (60, 20)


def test_a_view_is_listed_under_what_it_shows() -> None:
    problem = PlacementProblem((Buffer("x", 0, 3, 64), Buffer("shown", 1, 4, 64)), None, (), (View("shown", "x"),))
    peak = explain(problem, place(problem))
    assert (peak.live, [buffer.name for buffer in peak.buffers]) == (64, ["x"])


def test_many_buffers_are_counted_not_listed() -> None:
    problem = PlacementProblem(tuple(Buffer(f"b{index}", 0, 1, 10 + index) for index in range(6)))
    assert str(explain(problem, place(problem))) == (
        "at step 0 these are alive: 'b5' 15, 'b4' 14, 'b3' 13, 'b2' 12 and 2 more (75 bytes together)"
    )


def test_the_level_is_named_and_an_unproved_peak_is_said_to_be_one() -> None:
    problem = PlacementProblem((Buffer("low", 0, 1, 10), Buffer("high", 0, 1, 10)), 15)
    with pytest.raises(DoesNotFit) as caught:
        place(problem, level="L1")
    assert caught.value.smallest == {"L1": 20}
    assert str(caught.value).startswith("L1 has 15 bytes and 20 are needed, 5 too few: ")


def test_nothing_is_to_blame_for_nothing() -> None:
    assert explain(PlacementProblem(()), place(PlacementProblem(()))).buffers == ()
