"""gcov's JSON as coverage by function, conditions of gcc 14 among it."""

from __future__ import annotations

from tilewright.evidence.code_lines import CodeLines, Span
from tilewright.evidence.coverage import functions_of

CODE = CodeLines("net.c", (Span(1, 9, "layer", "layer", (4,)),), ())


def _line(number: int, name: str, count: int, false: list[int], true: list[int]) -> dict[str, object]:
    """A line with a condition of two terms, in the form of gcov's manual."""
    conditions = [
        {"count": 4, "covered": 4 - len(false) - len(true), "not_covered_false": false, "not_covered_true": true}
    ]
    return {
        "line_number": number, "function_name": name, "count": count, "branches": [{"count": count}, {"count": 0}],
        "conditions": conditions,
    }  # fmt: skip


def test_copies_of_a_line_count_as_one() -> None:
    """What one copy of a function shows of a condition is shown; what neither shows is not."""
    lines = [_line(3, "layer", 2, [0], [1]), _line(3, "layer", 0, [0, 1], []), _line(5, "gone", 1, [], [])]
    (function,) = functions_of(lines, CODE, {"layer"})
    assert (function.function, function.instructions) == ("layer", (4,))
    assert (function.lines, function.lines_run, function.branches, function.branches_taken) == (1, 1, 2, 1)
    assert (function.conditions, function.conditions_shown) == (4, 3)


def test_older_compilers_count_no_conditions() -> None:
    lines = [{"line_number": 3, "function_name": "layer", "count": 0}]
    (function,) = functions_of(lines, CODE, {"layer"})
    assert (function.never, function.conditions, function.conditions_shown) == ((3,), 0, 0)


def test_lines_without_a_function_belong_to_the_text_that_holds_them() -> None:
    """gcc 14 names no function for lines of which every copy lies inside of others."""
    (function,) = functions_of([{"line_number": 3, "count": 1, "conditions": []}], CODE, {"another"})
    assert (function.function, function.lines_run) == ("layer, inside of others", 1)
