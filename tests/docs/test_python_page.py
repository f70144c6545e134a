"""The page on the Python interface: its code runs from top to bottom, and what notebooks show stays text."""

import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import tilewright
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
    frame = known["compiled"]._repr_html_()
    assert frame.count("<") == 2, "the page is text inside of its frame"
    assert unescape(frame.partition('srcdoc="')[2]).startswith("<!doctype html>")


def test_a_report_shows_its_levels() -> None:
    sample = load(ROOT / "tests" / "report" / "sample_report.json")
    assert "<th>ram</th><td>5,536</td><td>65,536</td><td>fits</td>" in sample._repr_html_()
    assert tilewright.Report is type(sample)
