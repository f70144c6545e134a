"""The page: self-contained, every buffer in its map, names escaped."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tilewright.memory.levels import BufferReport, MemoryReport
from tilewright.report.build import load
from tilewright.report.html import HEIGHT, WIDTH, page, render

SAMPLE = load(Path(__file__).with_name("sample_report.json"))
VOID = {"meta", "input"}


class Tags(HTMLParser):
    """Collects elements and checks that they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(text: str) -> Tags:
    found = Tags()
    found.feed(text)
    assert found.open == []
    return found


def test_the_page_needs_nothing_from_elsewhere() -> None:
    text = render(SAMPLE)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<link|<img|\ssrc=", text)
    assert "default-src 'none'" in text
    assert render(SAMPLE) == text


def test_every_buffer_is_a_box_of_its_time_and_addresses() -> None:
    boxes = {
        str(attrs["data-name"]): attrs
        for tag, attrs in tags(render(SAMPLE)).seen
        if tag == "rect" and "buffer" in str(attrs["class"])
    }
    assert len(boxes) == 6
    box = boxes["conv1_out"]
    assert (box["x"], box["width"]) == ("0.00", f"{WIDTH / 2:.2f}"), "alive in the first two of four instructions"
    assert float(str(box["height"])) == pytest.approx(HEIGHT * 4096 / 5376, abs=0.01)
    assert float(str(box["y"])) + float(str(box["height"])) == pytest.approx(HEIGHT, abs=0.02), "address 0 is below"


def test_the_worst_moment_is_decomposed() -> None:
    ram = page(SAMPLE).levels[0]
    assert ram.map is not None
    assert ram.map.worst_caption == ('Most bytes are alive at instruction 1, pool<1> "&": 5,120 B in 2 buffers.')
    assert ram.map.worst_alive == (("conv1_out", "activation", "4,096"), ('pool<1> "&"', "activation", "1,024"))
    assert [(part.name, part.size) for part in ram.parts] == [
        ("activations", "5,120"), ("io", "256"), ("scratch", "64"), ("stack", "96"),
    ]  # fmt: skip


def test_names_are_escaped() -> None:
    evil = '"><script>alert(1)</script><x y="'
    buffers = (BufferReport(evil, 0, 8, 0, 0, "activation"),)
    level = MemoryReport(None, False, 8, 8, 8, "optimal", activations=8, buffers=buffers)
    layers = (replace(SAMPLE.layers[0], name=evil, op=evil, kernel=evil, tile={evil: 1}),)
    model = replace(SAMPLE.model, name=evil, inputs=(replace(SAMPLE.model.inputs[0], name=evil),))
    text = render(replace(SAMPLE, memory={evil: level}, layers=layers, model=model, target=evil))
    assert "<script>alert" not in text
    found = tags(text).seen
    assert [tag for tag, _ in found].count("script") == 1
    assert any(attrs.get("data-name") == evil for _, attrs in found)


def test_a_report_of_next_to_nothing() -> None:
    empty = MemoryReport(None, False, 0, 0, 0, "optimal", buffers=(BufferReport("view", 0, 0, 0, 0, "activation"),))
    text = render(replace(SAMPLE, memory={"ram": empty}, layers=(), run=None, toolchain=None, passes=()))
    assert "<h2>Layers</h2>" not in text
    assert "<h2>Run</h2>" not in text
    tags(text)


def test_columns_of_what_was_counted() -> None:
    assert page(SAMPLE).measured_in == "instructions"
    cycles = tuple(replace(layer, cycles=7) for layer in SAMPLE.layers)
    assert page(replace(SAMPLE, layers=cycles)).measured_in == "cycles"
    bare = tuple(replace(layer, instructions=None) for layer in SAMPLE.layers)
    assert page(replace(SAMPLE, layers=bare)).measured_in == ""
