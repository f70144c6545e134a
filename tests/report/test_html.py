"""The page as text: it needs nothing from elsewhere, names of a stranger stay text, it stays small."""

import json
import re
from dataclasses import replace
from pathlib import Path

from markup import EVIL, tags
from tilewright.memory.needs import BufferReport, MemoryReport
from tilewright.report.build import MemberReport, Report, ResultReport, load
from tilewright.report.page.page import page_of
from tilewright.report.page.render import render_page
from tilewright.report.tile_times import TimelineReport

SAMPLE = load(Path(__file__).with_name("sample_report.json"))


def chained(report: Report, count: int, name: str = "layer_{}") -> Report:
    """A report of `count` layers in a row, each with the result that the next one reads."""
    layer = replace(report.layers[0], members=(), nodes=(), fused_into="")
    names = [name.replace("{}", str(n)) for n in range(count + 1)]
    layers = tuple(
        replace(layer, name=names[n], operands=(names[n],), results=(ResultReport(names[n + 1], 64, "ram", 64 * n),))
        for n in range(count)
    )
    buffers = tuple(BufferReport(names[n + 1], 64 * (n % 3), 64, n, n + 1, "activation") for n in range(count))
    level = MemoryReport(4096, False, 192, 128, 128, "optimal", activations=192, buffers=buffers)
    return replace(report, layers=layers, memory={"ram": level})


def test_the_page_needs_nothing_from_elsewhere() -> None:
    text = render_page(SAMPLE)
    outside = text.replace('"http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#hatch)|<link|<img|\ssrc=", re.sub(r"// .*", "", outside))
    assert "default-src 'none'" in text
    assert render_page(SAMPLE) == text
    tags(text)


def test_every_buffer_is_a_box_of_its_time_and_addresses() -> None:
    view = page_of(SAMPLE).maps[0]
    box = next(box for box in view.boxes if box.name == "conv1_out")
    assert (box.x, box.width) == (0, 50), "alive in the first two of four steps"
    assert round(box.height, 2) == round(view.tall * 4096 / 5376, 2)
    assert round(box.y + box.height, 2) == view.tall, "address 0 is below"
    assert [row.name for row in view.peak_rows] == ["conv1_out", 'pool<1> "&"']
    assert (view.most, view.peak_step) == ("5,120", 1)
    assert sum('class="box' in line for line in render_page(SAMPLE).splitlines()) == 6


def test_bytes_of_two_buffers_are_drawn_and_count_once() -> None:
    parts = (BufferReport("whole", 0, 64, 0, 2, "activation"), BufferReport("part", 16, 32, 1, 1, "activation"))
    level = MemoryReport(None, False, 64, 64, 64, "optimal", activations=64, buffers=parts)
    view = page_of(replace(SAMPLE, memory={"ram": level})).maps[0]
    assert [box.inside for box in view.boxes] == ["", "whole"]
    assert [both.title for both in view.shared] == ["part and whole share 32 B"]
    assert (view.most, view.peak_note) == ("64", "")


def test_names_stay_text() -> None:
    evil = chained(SAMPLE, 2, EVIL + "{}")
    member = MemberReport(EVIL, EVIL, 1, (EVIL,), (EVIL,))
    first = replace(
        evil.layers[0], op=EVIL, kernel=EVIL, numerics=EVIL, tile={EVIL: 1}, engine=EVIL, instead_of=EVIL,
        members=(member, replace(member, name=EVIL * 2)), timeline=TimelineReport((0, 5), (0, 3)), modelled_cycles=5,
    )  # fmt: skip
    memory = {EVIL: evil.memory["ram"]}
    inputs = (replace(SAMPLE.model.inputs[0], name=EVIL),)
    model = replace(SAMPLE.model, name=EVIL, inputs=inputs, outputs=inputs)
    report = replace(
        evil, layers=(first, replace(evil.layers[1], fused_into=EVIL)), model=model, target=EVIL, memory=memory
    )
    text = render_page(report)
    assert "<script>alert" not in text
    assert "${7*7}" in text, "a template's own language is text in a name"
    found = tags(text)
    assert [tag for tag, _ in found.seen].count("script") == 2, "the data and the page's own"
    assert not any(tag == "x" or name.startswith("on") for tag, attrs in found.seen for name in attrs)
    assert json.loads(found.data)["names"][0].startswith('"><script>'), "the data holds the name as it is"


def test_a_report_of_next_to_nothing() -> None:
    empty = MemoryReport(None, False, 0, 0, 0, "optimal", buffers=(BufferReport("view", 0, 0, 0, 0, "activation"),))
    text = render_page(replace(SAMPLE, memory={"ram": empty}, layers=(), run=None, toolchain=None, passes=()))
    assert 'id="network"' not in text
    assert "The run" not in text
    tags(text)


def test_columns_that_nothing_fills_are_left_out() -> None:
    heads = [head for head, _ in page_of(SAMPLE).costs.heads]
    assert heads[:3] == ["instructions", "share", "MACs"]
    assert "waiting" not in heads
    bare = tuple(replace(layer, instructions=None) for layer in SAMPLE.layers)
    assert page_of(replace(SAMPLE, layers=bare)).costs.unit == ""
    cycles = tuple(replace(layer, cycles=7) for layer in SAMPLE.layers)
    assert page_of(replace(SAMPLE, layers=cycles)).costs.unit == "cycles"


def test_three_hundred_layers_stay_below_400_kb() -> None:
    name = "network/stage_{}/block_{}/expand/Conv2D;network/stage_{}/block_{}/BatchNorm/FusedBatchNormV3"
    report = chained(SAMPLE, 300, name)
    text = render_page(report)
    assert len(text.encode()) < 400_000
    assert page_of(report).maps[0].boxes[7].name == "stage_8", "the shortest part that no other name has"
