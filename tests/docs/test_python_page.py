"""The page on the Python interface: its code runs from top to bottom, and what notebooks show stays text."""

import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import tilewright
from tilewright.errors import UsageError
from tilewright.report.build import load

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    shutil.copy(ROOT / "tests" / "models" / "digits_int8" / "model.onnx", tmp_path)
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for block in BLOCK.findall((ROOT / "docs" / "python.md").read_text(encoding="utf-8")):
        exec(compile(block, "python.md", "exec"), known)
    assert known["report"].run.match
    assert list(known["layers"].name) == [layer.name for layer in known["report"].layers]
    assert (tmp_path / "page.html").stat().st_size > 20_000
    assert (tmp_path / "memory.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert known["report"].run.samples == 20
    frame = known["compiled"]._repr_html_()
    assert frame.count("<") == 2, "the page is text inside of its frame"
    assert unescape(frame.partition('srcdoc="')[2]).startswith("<!doctype html>")


def test_a_report_shows_its_levels() -> None:
    sample = load(ROOT / "tests" / "report" / "sample_report.json")
    assert "<th>ram</th><td>5,536</td><td>65,536</td><td>fits</td>" in sample._repr_html_()
    assert tilewright.Report is type(sample)


def test_the_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = set(tilewright.__all__) - {"TilewrightError", "__version__"}  # the first stands among the errors
    assert {name for name in names if f"::: tilewright.{name}\n" not in page} == set()
    assert "::: tilewright.errors\n" in page


def test_the_plot_of_memory_is_xml_with_every_buffer() -> None:
    sample = load(ROOT / "tests" / "report" / "sample_report.json")
    plot = sample.plot_memory()
    assert plot.level == "ram"
    titles = [
        element.text or "" for element in ElementTree.fromstring(plot._repr_svg_()).iter() if "title" in element.tag
    ]
    assert sorted(title.partition(":")[0] for title in titles) == sorted(b.name for b in sample.memory["ram"].buffers)
    with pytest.raises(UsageError, match="no such level"):
        sample.plot_memory("l7")
    strange = replace(sample.memory["ram"].buffers[0], name="<b>&\x00\u202e")
    memory = {"ram": replace(sample.memory["ram"], buffers=(strange,))}
    assert "&lt;b&gt;&amp;\\x00\\u202e:" in replace(sample, memory=memory).plot_memory("ram").svg
