"""What a network needs is one answer: the smallest size that is named fits, one step less does not, and all agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.told import odd, told
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.errors import DoesNotFit
from tilewright.fitting import LARGE, fitted, smallest_size
from tilewright.memory.needs import Amount, MemoryReport, Places, Program, verdict_of, with_program
from tilewright.options import CompileOptions, InputOutput
from tilewright.target import load_target, missing_tools

Find = Callable[[str], NetworkFiles]
CELLS: list[tuple[str, str, InputOutput]] = [
    ("qemu_mps2_an386", "ram", "arena"), ("qemu_mps2_an386", "flash", "arena"), ("qemu_mps2_an386", "ram", "caller"),
    ("qemu_pulp", "l2", "arena"), ("qemu_pulp", "l1", "caller"),
]  # fmt: skip


def error_at(model: Path, board: str, options: CompileOptions) -> DoesNotFit | None:
    """The error with these options, None where the network fits."""
    try:
        return fitted(model, options, load_target(board)).error
    except DoesNotFit as error:
        return error


@pytest.mark.parametrize(("board", "level", "io"), CELLS)
def test_the_smallest_size_fits_and_one_step_less_does_not(
    board: str, level: str, io: InputOutput, network: Find
) -> None:
    model, asked = network("digits_int8").model, CompileOptions(io=io)
    told = error_at(model, board, replace(asked, level_sizes={level: 64}))
    assert told is not None
    assert list(told.smallest) == [level]
    size = told.smallest[level]
    assert set(told.given) == ({"l1", "l2"} - {level} if board == "qemu_pulp" else set())
    assert error_at(model, board, replace(asked, level_sizes={level: size})) is None
    less = error_at(model, board, replace(asked, level_sizes={level: size - 8}))
    assert less is not None
    assert less.smallest == told.smallest


@pytest.mark.parametrize("need", [0, 7, 8, 4096, 5000, LARGE])
@pytest.mark.parametrize("guess", [0, 16, 4096, 100_000])
def test_few_sizes_are_tried(need: int, guess: int) -> None:
    tried: list[int] = []

    def needed(size: int) -> int | None:
        tried.append(size)
        return None if size < need else min(size, need + (size > 6000) * 3000)

    size = smallest_size(needed, 8, guess)
    assert size == max(8, -(-need // 8) * 8)
    assert len(tried) <= 40
    assert smallest_size(lambda size: None, 8) is None


def test_what_fits_only_here_and_there_still_has_a_neighbour_that_does_not() -> None:
    def needed(size: int) -> int | None:
        return size if size >= 5000 or 3000 <= size < 3400 else None

    size = smallest_size(needed, 8, 3100)
    assert size is not None
    assert needed(size) is not None
    assert needed(size - 8) is None


@pytest.mark.parametrize(("name", "board"), [("digits_int8", "stm32f407"), ("odd_several", "qemu_pulp")])
def test_every_command_says_the_same(name: str, board: str, network: Find, tmp_path: Path) -> None:
    places = told(network(name).model, board, tmp_path)
    assert len(places) == 10
    assert not odd(places)
    report = json.loads((tmp_path / "project" / "report.json").read_text())["memory"]
    assert places["check"] == {level: row["total"] for level, row in report.items()}
    code = next(row for row in report.values() if row["code"])
    assert code["provenance"]["code"] == "estimated"
    assert code["total"] == code["worst_case"] + code["code"]
    places["page"] = {**places["page"], next(iter(report)): 1}
    assert odd(places) == ["page"]


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_pulp_l3"])
def test_a_build_confirms_what_was_estimated(board: str, network: Find, tmp_path: Path) -> None:
    if missing := missing_tools(load_target(board)):
        pytest.skip(f"{missing[0][0]} is not installed")
    model = network("digits_int8").model
    before = fitted(model, CompileOptions(), load_target(board)).report.memory
    after = fitted(model, CompileOptions(measure=True), load_target(board)).report.memory
    for level, row in before.items():
        assert after[level].certainty != "estimated"
        assert after[level].surely == after[level].total <= row.total <= 2.5 * after[level].total
        assert data_of(after[level]) == data_of(row)


def data_of(row: MemoryReport) -> MemoryReport:
    """The level without the program."""
    data = row.worst_case - (row.stack or 0)
    return replace(row, stack=None, code=None, worst_case=data, provenance={}, estimated=False)


def level(size: int | None, **parts: int) -> MemoryReport:
    return MemoryReport(size, False, sum(parts.values()), None, None, None, **parts)  # type: ignore[arg-type]


def test_verdicts_say_how_they_are_known() -> None:
    data = level(1000, activations=500)
    assert data.verdict == "fits (proved)"
    assert data.with_stack(Amount(100, "measured")).verdict == "fits (measured)"
    assert data.with_code(Amount(400, "estimated")).verdict == "fits (estimated, margin 10 %)"
    assert data.with_code(Amount(501, "estimated")).verdict == "does not fit (estimated)"
    assert level(400, activations=500).with_code(Amount(1, "estimated")).verdict == "does not fit"
    assert level(None, activations=500).verdict == "fits"
    assert verdict_of([data, data.with_stack(Amount(480, "estimated"))]) == "fits (estimated, margin 2 %)"


def test_a_stack_with_a_room_of_its_own_is_counted_once() -> None:
    rows = {"l1": level(None, stack=64), "l2": level(None, activations=8)}
    found = with_program(rows, Places("l2", "l2", "l2"), Program(Amount(9, "measured"), Amount(4, "estimated"),
                                                                 Amount(500, "measured")))  # fmt: skip
    assert (found["l2"].stack, found["l2"].code, found["l2"].of("code")) == (None, 13, "estimated")


def test_stack_and_code_take_the_place_of_those_before_them() -> None:
    rows = {"ram": level(None, activations=8), "flash": level(None, constants=5)}
    places = Places("flash", "flash", "ram")
    estimated = Program(Amount(90, "estimated"), Amount(4, "estimated"), Amount(200, "estimated"))
    built = Program(Amount(70, "measured"), Amount(3, "measured"), Amount(100, "measured"))
    found = with_program(with_program(rows, places, estimated), places, built)
    assert (found["ram"].stack, found["ram"].total) == (100, 8 + 100 + 3)
    assert found["flash"].total == 5 + 70 + 3  # the variables' first values rest beside the code
    assert {row.certainty for row in found.values()} == {"measured"}


def test_all_commands_decide_the_same_at_the_border(network: Find, tmp_path: Path) -> None:
    board, model = "qemu_mps2_an386", network("digits_int8").model
    if missing := missing_tools(load_target(board)):
        pytest.skip(f"{missing[0][0]} is not installed")
    estimated = fitted(model, CompileOptions(), load_target(board)).report.memory["flash"].total
    built = fitted(model, CompileOptions(measure=True), load_target(board)).report.memory["flash"].total
    assert built + 8 < estimated
    exits = {}
    for budget in (built - 1, built, estimated - 1, estimated):
        words = [str(model), "-t", board, "--budget", f"flash={budget}", "--quiet"]
        out = ["-o", str(tmp_path / str(budget))]
        exits[budget] = [main(["check", *words]), main(["compile", *words, *out]), main(["run", *words])]
    assert exits == {built - 1: [4] * 3, built: [0] * 3, estimated - 1: [0] * 3, estimated: [0] * 3}
