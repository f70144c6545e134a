"""`tilewright conform` on a plug-in: it passes, and one planted fault per declaration is caught by its name."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from tilewright import plugins
from tilewright.cli import main
from tilewright.platform import Platform
from tilewright.plugins import Platforms, Source, folder_sources

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE / "acme_rv32")
    monkeypatch.syspath_prepend(HERE / "faulty_kernels")
    faults = importlib.import_module("faults")
    found: list[Platform] = [importlib.import_module("acme_rv32.platform").PLATFORM]
    found += [faults.ROUNDING, faults.SCRATCH, faults.OPERAND, faults.LAYOUT, faults.TEXT, faults.PYTHON]
    sources = [Source(platform.name, "a test", lambda p=platform: p) for platform in found]  # type: ignore[misc]
    platforms = Platforms([*folder_sources(plugins.GROUP), *sources])
    monkeypatch.setattr(plugins, "find_platforms", lambda: platforms)


def test_the_outside_plug_in_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "acme_rv32"]) == 0
    assert "MatMulDot4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "verdict", "words"),
    [
        ("rounding", "its rounding", "it does not round half to even"),
        ("scratch", "its memory", "writes 4 bytes at byte 1 past the end of the declared scratch of 4 bytes"),
        ("operand", "its memory", "past the end of operand 'a'"),
        ("text", "what it declares", "its C does not compile: "),
        ("python", "what it declares", "Raises: KeyError: 'count'"),
        ("layout", "its layout", "right if operands lie row-major and the result row-major, but it declares"),
    ],
)
def test_a_planted_fault_is_named(
    fault: str, verdict: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "answer.json"
    assert main(["conform", f"wrong_{fault}", "--json", str(answer)]) == 5
    told = capsys.readouterr()
    assert f"wrong: {verdict}" in told.out
    assert words in told.out
    assert "1 of 1 kernels do not do what they declare" in told.err
    differences = json.loads(answer.read_text())["rows"][0]["differences"]
    assert any(words in sentence for sentence in differences)


def test_inherited_kernels_are_compared_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "acme_rv32", "--kernel", "TopK"]) == 2
    assert "--all adds those that it inherits" in capsys.readouterr().err
    assert main(["conform", "acme_rv32", "--kernel", "TopK", "--all", "--each", "1"]) == 0
    assert "TopK" in capsys.readouterr().out
