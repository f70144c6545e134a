"""The native search and its portable twin agree node for node, prove what is impossible, and survive without cc."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tilewright.memory import canonical_search, native
from tilewright.memory.allocators import canonical, cp_sat
from tilewright.memory.bound import live_bound
from tilewright.memory.canonical_search import Outcome, Rectangles
from tilewright.memory.packing import normalise
from tilewright.memory.place import place
from tilewright.memory.problem import Buffer, PlacementProblem

WORK = 200_000


def cut_rectangle(seed: int, pieces: int) -> PlacementProblem:
    """A full rectangle of 60 steps and 100 bytes, cut into pieces: it can be placed without a byte to spare."""
    dice = random.Random(seed)
    found: list[tuple[int, int, int]] = []

    def cut(begin: int, end: int, size: int, count: int) -> None:
        if count == 1 or (end - begin == 1 and size == 1):
            found.append((begin, end, size))
            return
        first = dice.randrange(1, count)
        if size == 1 or (end - begin > 1 and dice.random() < 0.5):
            middle = dice.randrange(begin + 1, end)
            cut(begin, middle, size, first)
            cut(middle, end, size, count - first)
        else:
            middle = dice.randrange(1, size)
            cut(begin, end, middle, first)
            cut(begin, end, size - middle, count - first)

    cut(0, 60, 100, pieces)
    dice.shuffle(found)
    return PlacementProblem(tuple(Buffer(f"p{index}", *piece) for index, piece in enumerate(found)))


def at_one_place() -> PlacementProblem:
    """p3 is a dead end where p2 goes next; the two never meet, and p3 is not tried there once more."""
    pieces = ((4, 6, 1), (5, 11, 1), (6, 9, 1), (2, 5, 2), (10, 11, 3), (1, 8, 1))
    return PlacementProblem(tuple(Buffer(f"p{index}", *piece) for index, piece in enumerate(pieces)))


def columns(problem: PlacementProblem, capacity: int) -> Rectangles:
    return canonical._rectangles(normalise(problem), capacity)


def compiled() -> None:
    if native.load("", native.cache_folder()) is None:
        pytest.fail("the native search cannot be built; is there a C compiler?")


def test_both_twins_visit_the_same_nodes(small_problem: Callable[..., PlacementProblem]) -> None:
    compiled()
    outcomes = set()
    problems = [small_problem(seed, buffers=14, rich=False) for seed in range(30)]
    problems += [cut_rectangle(seed, 18) for seed in range(30)] + [at_one_place()]
    for seed, problem in enumerate(problems):
        for less in (0, 1):
            capacity = live_bound(normalise(problem)) - less
            rectangles = canonical._rectangles(normalise(problem), capacity, seed % 3)
            if any(high < low for low, high in zip(rectangles.lowest, rectangles.highest, strict=True)):
                continue
            twin = canonical_search.Search(rectangles, WORK)
            outcome, offsets = twin.run()
            answer = native.search(rectangles, WORK)
            assert answer is not None
            assert (answer[0], answer[2]) == (outcome, twin.work)
            if outcome is Outcome.FOUND:
                assert answer[1] == offsets
            outcomes.add(outcome)
    assert {Outcome.FOUND, Outcome.IMPOSSIBLE} <= outcomes


@pytest.mark.parametrize("seed", range(12))
def test_rectangles_cut_from_one_are_put_together_again(seed: int) -> None:
    solution = place(cut_rectangle(seed, 45), allocator="canonical")
    assert (solution.peak, solution.status) == (100, "optimal")


def test_yes_and_no_agree_with_cp_sat(small_problem: Callable[..., PlacementProblem]) -> None:
    impossible = 0
    for seed in range(200):
        packing = normalise(small_problem(seed, buffers=6))
        if not packing.is_rectangles() or not packing.items:
            continue
        capacity = live_bound(packing)
        one, two = canonical.decide(packing, capacity, 1.0), cp_sat.decide(packing, capacity, 1.0)
        assert (one.offsets is None, one.impossible) == (two.offsets is None, two.impossible)
        impossible += one.impossible
    assert impossible >= 5


def test_without_a_compiler_the_twin_takes_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert native.search(columns(cut_rectangle(1, 5), 100), 1000) is None
    assert place(cut_rectangle(0, 30), allocator="canonical").status == "optimal"


def test_a_compiler_that_fails_is_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "false")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native.search(columns(cut_rectangle(1, 5), 100), 1000) is None
    assert list((tmp_path / "tilewright").iterdir()) == []


def test_it_is_compiled_once_into_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled()
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for _ in range(2):
        assert native.search(columns(cut_rectangle(1, 5), 100), 100_000) is not None
    assert [entry.suffix for entry in (tmp_path / "tilewright").iterdir()] == [".so"]


def test_numbers_beyond_64_bits_are_left_to_the_twin() -> None:
    far = 1 << 60
    buffers = (Buffer("a", 0, far, 3), Buffer("b", 1, far, 2**50 + 1), Buffer("c", 0, 5, 2), Buffer("d", 2, far, 7))
    assert native.search(columns(PlacementProblem(buffers), 2**51), 1000) is None
    assert place(PlacementProblem(buffers), allocator="canonical").status == "optimal"


def test_it_stops_at_the_end_of_its_work() -> None:
    rectangles = columns(cut_rectangle(3, 60), 100)
    assert canonical_search.Search(rectangles, 50).run()[0] is Outcome.STOPPED


def test_the_native_search_is_clean_c99(tmp_path: Path) -> None:
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Werror"]
    compilers = [name for name in ("gcc", "clang", "cc") if shutil.which(name)]
    assert compilers
    for name in compilers:
        command = [name, "-std=c99", "-O2", *warnings, "-c", str(native.SOURCE), "-o", str(tmp_path / "canonical.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
