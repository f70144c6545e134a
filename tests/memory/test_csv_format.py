"""MiniMalloc's CSV: what is written is read back, and every bad line is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tilewright.errors import UsageError
from tilewright.memory.check import check
from tilewright.memory.csv_format import read_problem, read_solution, write_problem, write_solution
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, Overlap, PlacementProblem


def test_a_problem_is_written_as_minimalloc_reads_it() -> None:
    problem = PlacementProblem((Buffer("a", 0, 3, 4), Buffer("b", 3, 9, 4)))
    assert write_problem(problem) == "id,lower,upper,size\na,0,3,4\nb,3,9,4\n"
    assert read_problem(write_problem(problem)) == problem


def test_alignment_and_pins_survive() -> None:
    problem = PlacementProblem((Buffer("a", 0, 3, 4, 4), Buffer("b", 3, 9, 4, 2, 6)), 64)
    assert read_problem(write_problem(problem), capacity=64) == problem


def test_a_solution_survives(small_problem: Callable[..., PlacementProblem]) -> None:
    for seed in range(20):
        problem = small_problem(seed, rich=False)
        solution = place(problem)
        again = read_solution(problem, write_solution(problem, solution))
        check(problem, again)
        assert (again.offsets, again.peak) == (solution.offsets, solution.peak)


def test_older_columns_have_an_inclusive_end() -> None:
    assert read_problem("buffer_id,start,end,size\nx,2,5,7\n").buffers == (Buffer("x", 2, 6, 7),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1 of the CSV is wrong: there is no column 'id'"),
        ("id,lower,upper\n", "line 1 of the CSV is wrong: there is no column 'size'"),
        ("id,lower,upper,size,gaps\n", "line 1 of the CSV is wrong: the column 'gaps' is not known"),
        ("id,lower,upper,size,size\n", "line 1 of the CSV is wrong: the column 'size' comes twice"),
        ("id,lower,upper,size\na,0,1\n", "line 2 of the CSV is wrong: 3 fields where the header has 4"),
        (
            "id,lower,upper,size\na,0,1,2\nb,0,x,2\n",
            "line 3 of the CSV is wrong: upper is 'x', which is not a whole number",
        ),
    ],
)
def test_a_bad_line_is_named(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_problem(text)
    assert str(caught.value) == sentence


def test_the_file_is_named() -> None:
    with pytest.raises(UsageError, match=r"line 1 of 'here\.csv' is wrong"):
        read_problem("size\n", file="here.csv")


def test_a_solution_must_name_every_buffer() -> None:
    problem = PlacementProblem((Buffer("a", 0, 3, 4), Buffer("b", 3, 9, 4)))
    with pytest.raises(UsageError, match="buffer 'b' has no line"):
        read_solution(problem, "id,lower,upper,size,offset\na,0,3,4,0\n")
    with pytest.raises(UsageError, match="line 2 of the CSV is wrong: buffer 'a' has no offset"):
        read_solution(problem, write_problem(problem))


def test_what_the_format_cannot_say_is_refused() -> None:
    problem = PlacementProblem((Buffer("a", 0, 3, 4), Buffer("b", 2, 9, 4)), None, (Overlap("a", "b", 0),))
    with pytest.raises(UsageError, match="has overlaps or views"):
        write_problem(problem)
