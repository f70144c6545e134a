"""The page of a sweep and that of a comparison: what a cell says, what is drawn on both sides, names stay text."""

from dataclasses import replace
from pathlib import Path

from markup import EVIL, tags
from tilewright.errors import DoesNotFit, UnsupportedError
from tilewright.report.build import load
from tilewright.report.envelope import Row
from tilewright.report.page.comparison import comparison_of
from tilewright.report.page.matrix import matrix_of
from tilewright.report.page.render import render_difference, render_page, render_rows

SAMPLE = load(Path(__file__).with_name("sample_report.json"))
SMALL = DoesNotFit("'m' does not fit", why="ram needs 9,000 B", fix="", smallest={"ram": 9000})
ROWS = [
    Row("host", SAMPLE, None, "", "a/one.onnx"),
    Row("host", None, SMALL, "", "b/two.onnx"),
    Row("host", None, UnsupportedError("no kernel for 'Odd'", why="none", fix=""), "", "c/three.onnx"),
]


def test_a_cell_says_what_is_left_of_the_fullest_level() -> None:
    matrix = matrix_of(ROWS)
    assert (matrix.title, matrix.note, matrix.corner) == ("3 networks on 1 target", "1 of 3 fit", "network")
    fits, small, odd = (cells[0] for _, _, cells in matrix.rows)
    assert (fits.kind, fits.text, fits.note) == ("good", "58.6 KiB left", "ram 8.4 % used, 120 k instructions")
    assert (small.kind, small.text, small.levels[0].needed) == ("bad", "8.79 KiB of ram", "9,000")
    assert (odd.kind, odd.text, odd.sort) == ("odd", "error", None)
    assert [name for name, _, _ in matrix.rows] == ["one", "two", "three"]


def test_the_longer_side_lies_downwards() -> None:
    rows = [Row(target, SAMPLE) for target in ("a", "b", "c")]
    matrix = matrix_of(rows)
    assert (matrix.corner, [name for name, _ in matrix.columns], len(matrix.rows)) == ("target", ["digits"], 3)
    assert render_rows(rows[:1]) == render_page(SAMPLE), "one report has its whole page"


def test_hostile_names_stay_text_in_sweeps_and_comparisons() -> None:
    model = replace(SAMPLE.model, name=EVIL)
    evil = replace(
        SAMPLE, model=model, target=EVIL, memory={EVIL: SAMPLE.memory["ram"]},
        layers=(replace(SAMPLE.layers[0], name=EVIL, op=EVIL, kernel=EVIL),),
    )  # fmt: skip
    error = UnsupportedError(EVIL, why=EVIL, fix=EVIL)
    rows = [Row(EVIL, evil, None, EVIL, f"{EVIL}.onnx"), Row(EVIL, None, error, "", EVIL)]
    for text in (render_rows(rows), render_difference(SAMPLE, evil), render_difference(evil, evil)):
        found = tags(text)
        assert "<script>alert" not in text
        assert [tag for tag, _ in found.seen].count("script") == 1
        assert not any(tag == "x" or name.startswith("on") for tag, attrs in found.seen for name in attrs)


def test_both_sides_have_one_scale() -> None:
    ram = SAMPLE.memory["ram"]
    half = replace(ram, buffers=tuple(b for b in ram.buffers if b.offset + b.size <= 2688))
    new = replace(SAMPLE, memory={**SAMPLE.memory, "ram": half}, layers=SAMPLE.layers[1:])
    found = comparison_of(SAMPLE, new)
    (_, before, after), *_ = found.maps
    assert before is not None
    assert after is not None
    assert before.ticks == after.ticks
    assert {b.name: b.height for b in after.boxes}["conv2_out"] == {b.name: b.height for b in before.boxes}["conv2_out"]
    assert [(line.name, line.fate) for line in found.layers if line.fate] == [(SAMPLE.layers[0].name, "removed")]
    assert "no difference" in render_difference(SAMPLE, SAMPLE)
