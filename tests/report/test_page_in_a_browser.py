"""The page in headless Chromium, started once: what is clicked shows what it must, and nothing goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Browser
from tilewright.errors import UnsupportedError
from tilewright.report.build import Report, ResultReport, load
from tilewright.report.envelope import Row
from tilewright.report.page.render import render_difference, render_page, render_rows
from tilewright.report.tile_times import TimelineReport

SAMPLE = Path(__file__).parent / "sample_report.json"
LIT = "[...document.querySelectorAll('.lit[data-l]')].map((e) => e.tagName.toLowerCase() + e.dataset.l).sort()"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this file."""
    with Browser() as started:
        yield started


def connected() -> Report:
    """The stored report, its layers in a row, the second one in the chain of the third, the last in tiles."""
    report = load(SAMPLE)
    made = ["conv1_out", 'pool<1> "&"', "conv2_out", "logits"]
    layers = [
        replace(layer, operands=(read,), results=(ResultReport(tensor, 64, "ram", 0),))
        for layer, read, tensor in zip(report.layers, ["image", *made], made, strict=False)
    ]
    layers[1] = replace(layers[1], fused_into=layers[2].name)
    layers[3] = replace(layers[3], timeline=TimelineReport((20, 60, 65, 95), (0, 20, 20, 65)), modelled_cycles=100)
    return replace(report, layers=tuple(layers))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a report with a graph, a map, a timeline and a table."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render_page(connected()), encoding="utf-8")
    return file


@pytest.fixture
def shown(browser: Browser, page: Path) -> Iterator[Browser]:
    """The browser with the page open; no error may come of what a test does."""
    browser.size(1300, 900)
    browser.dark(on=False)
    browser.open(page)
    yield browser
    assert browser.problems == []


def text(browser: Browser, selector: str) -> str:
    return str(browser.evaluate(f"document.querySelector('{selector}').textContent"))


def test_a_click_on_a_layer_tells_of_it(shown: Browser) -> None:
    assert text(shown, "#details h3") == "Most instructions"
    shown.click('.node[data-l="3"]')
    layer = connected().layers[3]
    assert text(shown, "#details h3") == layer.name
    told = text(shown, "#details")
    assert "2 tiles" in told
    assert f"step 3 · {layer.op} · {layer.kernel}" in told
    assert shown.evaluate("document.querySelector('#costs tr.picked').dataset.l") == "3"
    shown.click("#details .link")
    assert text(shown, "#details h3") == connected().layers[2].name, "from reader to read"
    shown.key("Escape")
    assert text(shown, "#details h3") == "Most instructions"


def test_looking_at_a_row_lights_graph_map_and_table(shown: Browser) -> None:
    shown.hover('#costs tr[data-l="0"] .link')
    lit = shown.evaluate(LIT)
    assert {"g0", "svg0", "tr0", "text0"} <= set(lit), "node, buffer, row, name below the map"
    assert all(name.endswith("0") for name in lit)
    assert shown.evaluate("document.querySelectorAll('.edge.lit').length") == 2
    shown.hover('.box[data-l="1"]')
    assert text(shown, ".shown").startswith('pool<1> "&", activation: 1,024 B at 4,096 to 5,120')


def test_the_graph_is_zoomed_moved_and_walked(shown: Browser) -> None:
    wide = "+document.querySelector('#graph').getAttribute('viewBox').split(' ')[2]"
    left = "+document.querySelector('#graph').getAttribute('viewBox').split(' ')[0]"
    before = shown.evaluate(wide)
    shown.click("#closer")
    assert shown.evaluate(wide) < before
    x, y = shown.middle("#graph")
    shown.mouse("mouseWheel", x, y, deltaX=0, deltaY=400)
    shown.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert shown.evaluate(wide) > before / 1.4
    place = shown.evaluate(left)
    shown.mouse("mousePressed", x - 200, y, button="left", clickCount=1)
    shown.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    shown.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
    assert shown.evaluate(left) < place - 50, "dragged to the right, one sees what lies left"
    shown.evaluate("document.querySelector('#graph').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        shown.key(key)
    assert text(shown, "#details h3") == connected().layers[0].name


def test_finding_dims_what_is_not_meant(shown: Browser) -> None:
    shown.key("/", "/")
    shown.call("Input.insertText", text="CONV1")
    assert text(shown, "#hits") == "1 of 4 layers"
    assert shown.evaluate("document.querySelectorAll('#costs tbody tr:not(.dim)').length") == 1
    shown.key("Enter")
    assert text(shown, "#details h3") == connected().layers[0].name


def test_colours_sorting_and_stretching(shown: Browser) -> None:
    value = "document.querySelector('.node[data-l=\"0\"]').style.getPropertyValue('--v')"
    first = shown.evaluate(value)
    shown.evaluate(
        "(() => { const c = document.querySelector('#colour'); c.value = c.options.length - 1;"
        " c.dispatchEvent(new Event('change')); })()"
    )
    assert shown.evaluate(value) != first
    shown.click("#costs thead th:nth-child(5) button")
    counts = [int(cell.replace(",", "")) for cell in shown.evaluate(
        "[...document.querySelectorAll('#costs tbody')].map((b) => b.rows[0].cells[4].textContent).filter(Boolean)"
    )]  # fmt: skip
    assert counts == sorted(counts, reverse=True)
    plot = "document.querySelector('#memory .plot').getBoundingClientRect().width"
    before = shown.evaluate(plot)
    shown.click('#memory .zoomer [data-zoom="2"]')
    assert shown.evaluate(plot) == pytest.approx(2 * before)


def test_it_fits_a_narrow_window_and_the_dark(shown: Browser, page: Path) -> None:
    light = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    shown.size(400, 800)
    shown.dark(on=True)
    shown.open(page)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 400, "nothing but tables scrolls sideways"
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_a_long_verdict_stands_below_the_name_in_a_narrow_window(browser: Browser, tmp_path: Path) -> None:
    report = connected()
    level = replace(report.memory["ram"], size=6000, provenance={"stack": "estimated", "code": "estimated"})
    file = tmp_path / "long.html"
    file.write_text(render_page(replace(report, memory={"ram": level})), encoding="utf-8")
    browser.size(400, 800)
    browser.open(file)
    assert "estimated, margin" in text(browser, ".top .verdict")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 400
    assert browser.evaluate("document.querySelector('.top h1').getBoundingClientRect().height") < 60


def test_names_in_boxes_end_where_the_boxes_do(shown: Browser) -> None:
    over = """[...document.querySelectorAll('.box text')].filter((text) => {
        const own = text.parentNode.querySelector('rect').getBoundingClientRect();
        return text.getBoundingClientRect().right > own.right + 1; }).map((text) => text.textContent)"""
    long = "document.querySelector('.box text').dataset.whole = 'a_name_'.repeat(60)"
    shown.evaluate(long)
    for width in (1000, 500):
        shown.size(width, 900)
        shown.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        assert shown.evaluate(over) == []
    names = shown.evaluate("[...document.querySelectorAll('.box text')].map((e) => [e.textContent, e.dataset.whole])")
    assert any(now != whole for now, whole in names)
    assert all(now in ("", whole) or (now.endswith("…") and whole.startswith(now[:-1])) for now, whole in names)


def test_the_layers_are_one_stop_that_arrow_keys_walk(shown: Browser) -> None:
    assert shown.evaluate("document.querySelectorAll('#costs tbody .link:not([tabindex=\"-1\"])').length") == 1
    shown.evaluate("document.querySelector('#costs tbody .link').focus()")
    for key, row in (("ArrowDown", 1), ("End", -1), ("ArrowUp", -2), ("Home", 0)):
        shown.key(key)
        at = "[...document.querySelectorAll('#costs tbody .link')].map((e) => e === document.activeElement)"
        assert shown.evaluate(at)[row], key
    skip = shown.evaluate("document.querySelector('.skip').getAttribute('href')")
    assert shown.evaluate(f"Boolean(document.querySelector('main {skip}'))")


def test_a_sweep_is_sorted_and_tells_of_its_cells(browser: Browser, tmp_path: Path) -> None:
    small, large = load(SAMPLE), connected()
    full = replace(small, memory={"ram": replace(small.memory["ram"], size=5600)})
    error = UnsupportedError("no kernel for 'Odd'", why="none", fix="")
    rows = [Row("host", large, source="a.onnx"), Row("host", full, source="b.onnx")]
    rows += [Row("host", error=error, source="c.onnx")]
    file = tmp_path / "sweep.html"
    file.write_text(render_rows(rows), encoding="utf-8")
    browser.size(1300, 900)
    browser.open(file)
    names = "[...document.querySelectorAll('#matrix tbody th')].map((e) => e.textContent)"
    browser.click("#matrix thead th:nth-child(2) button")
    assert browser.evaluate(names) == ["a", "b", "c"], "most is left first, errors last"
    browser.click("#matrix thead th:nth-child(2) button")
    assert browser.evaluate(names) == ["b", "a", "c"]
    browser.click("#matrix tbody:nth-of-type(1) .cell")
    assert "5,600" in text(browser, "#details")
    browser.key("ArrowDown")
    assert "65,536" in text(browser, "#details")
    assert browser.problems == []


def test_a_comparison_lights_both_sides(browser: Browser, tmp_path: Path) -> None:
    old = connected()
    new = replace(old, layers=(replace(old.layers[0], kernel="Other"), *old.layers[1:]))
    file = tmp_path / "diff.html"
    file.write_text(render_difference(old, new), encoding="utf-8")
    browser.open(file)
    browser.hover('.sides article:nth-child(1) .box[data-l="1"]')
    assert browser.evaluate("document.querySelectorAll('.box.lit').length") == 2
    rows = "[...document.querySelectorAll('#lines tbody')].filter((e) => e.getBoundingClientRect().height).length"
    assert browser.evaluate(rows) == 1, "only what changed"
    browser.click("#changed")
    assert browser.evaluate(rows) == 4
    assert browser.problems == []


def test_nothing_is_loaded_from_anywhere(page: Path) -> None:
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?:https?:)?//", page.read_text(encoding="utf-8"))
