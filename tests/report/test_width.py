"""Tables keep to the terminal: one column of memory, names cut where they are alike, drawn by rich where one looks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tilewright.errors import DoesNotFit, ToolMissing
from tilewright.memory.needs import MemoryReport
from tilewright.report.build import load
from tilewright.report.envelope import Row
from tilewright.report.styled import looked_at
from tilewright.report.text import apart, memory_table, rows_table, table, width_of

SAMPLE = load(Path(__file__).with_name("sample_report.json"))
LEVEL = MemoryReport(1_000_000, False, 123_456, 12, 12, "optimal", activations=123_456)


def sweep() -> list[Row]:
    """Three networks on six targets, all with levels of their own."""
    rows = []
    for number in range(18):
        levels = {f"level{number % 6}{part}": replace(LEVEL, size=1000 * part or None) for part in range(4)}
        path = f"/data/some/where/networks/net{number // 6}/model.onnx"
        rows.append(Row(f"qemu_board_an{number % 6}", replace(SAMPLE, memory=levels), source=path))
    rows[3] = replace(rows[3], report=None, error=ToolMissing("no compiler", why="gcc is missing"))
    rows[4] = replace(rows[4], report=None, error=DoesNotFit("no room", smallest={"level40": 70000}))
    return rows


@pytest.mark.parametrize("width", [80, 120])
def test_a_sweep_fits_the_terminal_with_numbered_rows(width: int) -> None:
    text = rows_table(sweep(), width=width)
    lines = text.splitlines()
    assert width_of(text) <= width
    assert lines[0].split()[:4] == ["#", "model", "target", "fullest"]
    assert lines[2].split()[:3] == ["1", "net0", "qemu_board_an0"]
    assert "level01 123,456 / 1,000" in lines[2]
    assert "error: no compiler" in lines[5]
    assert "level40 70,000" in lines[6]


def test_a_pipe_gets_every_column() -> None:
    lines = rows_table(sweep()).splitlines()
    assert lines[0].split()[:2] == ["model", "target"]
    assert sum(word.startswith("level") for word in lines[0].split()) == 24
    assert "/data/some/where/networks/net0/model.onnx" in lines[2]


def test_paths_are_called_by_what_tells_them_apart() -> None:
    assert list(apart(["a/b/x/model.onnx", "a/b/y/model.onnx"]).values()) == ["x", "y"]
    assert list(apart(["a/x.onnx", "a/y.onnx"]).values()) == ["x.onnx", "y.onnx"]
    assert apart(["a/x.onnx"]) == {"a/x.onnx": "x.onnx"}
    assert set(apart(["m.onnx", "a/m.onnx"]).values()) == {"m.onnx", "a/m.onnx"}


def test_names_are_cut_where_they_do_not_differ() -> None:
    names = [f"functional_1/activation_{n}/LeakyRelu/resource_prequant" for n in (1, 2)]
    ends = [f"functional_1/activation/LeakyRelu/resource{n}" for n in (1, 2)]
    for cells in (names, ends, ["layer" * 9 + str(n) for n in range(12)]):
        lines = table(["name"], [[cell] for cell in cells], width=30).splitlines()
        assert width_of("\n".join(lines)) <= 30
        assert len(set(lines[2:])) == len(cells) or cells is names


def test_the_parts_of_a_level_stand_below_each_other_where_there_is_no_room_beside() -> None:
    text = memory_table(SAMPLE, 60)
    assert text.splitlines()[0].split() == ["memory", *SAMPLE.memory]
    assert width_of(text.split("\n~")[0]) <= 60
    assert memory_table(SAMPLE, 400) == memory_table(SAMPLE)


def test_rich_draws_what_a_person_looks_at() -> None:
    pytest.importorskip("rich")
    plain = table(["name", "verdict"], [["[red]x[/red]", "does not fit"], ["y", "fits"]])
    with looked_at(True):
        drawn = table(["name", "verdict"], [["[red]x[/red]", "does not fit"], ["y", "fits"]])
    with looked_at(False):
        assert table(["name", "verdict"], [["[red]x[/red]", "does not fit"], ["y", "fits"]]) == plain
    assert "\x1b[31mdoes not fit" in drawn
    assert "[red]x[/red]" in drawn
    assert "\x1b" not in plain
