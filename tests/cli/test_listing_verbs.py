"""The verbs that compare reports and list what is installed: diff, platforms, targets, ops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tilewright.cli import main

SAMPLE = str(Path(__file__).parent.parent / "report" / "sample_report.json")


def test_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", SAMPLE, SAMPLE]) == 0
    assert capsys.readouterr().out == "nothing changed\n"
    old = json.loads(Path(SAMPLE).read_text())
    old["model"]["macs"] = 70000
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert main(["diff", str(tmp_path / "old.json"), SAMPLE, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == [{"of": "", "what": "macs", "old": 70000, "new": 75648}]


def test_platforms_lists_broken_ones_with_the_reason(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["platforms"]) == 0
    generic, acme = capsys.readouterr().out.splitlines()[2:]
    assert generic.split()[:4] == ["generic", "folder", "platforms/generic", "1"]
    assert "platform 'acme' (acme 1.0) cannot be loaded: ImportError: no acme" in acme
    assert main(["platforms", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["name"], row["kernels"], row["levels"]) for row in rows] == [
        ("generic", 1, ["ram", "flash"]), ("acme", None, []),
    ]  # fmt: skip
    assert "host" in rows[0]["targets"]


def test_targets_say_which_tool_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["targets"]) == 0
    text = capsys.readouterr().out
    assert "missing: " in text
    assert "(package " in text
    assert main(["targets", "--json", "-"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["host"]["platform"] == "generic"
    assert rows["host"]["missing"]


def test_ops_come_from_the_registries(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "generic" in lines["operator"]
    assert lines["Relu"].split() == ["Relu", "f32", "f64"]
    assert "acme" not in lines["operator"], "a broken platform is left out"
    assert main(["ops", "-p", "generic", "--json", "-"]) == 0
    rows = {row["op"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["Relu"]["platforms"]["generic"] == [
        {"kernel": "ReluF32", "from": "generic", "types": "f32|f64 -> f32|f64", "layout": ["default", "default"],
         "numerics": "exact"}
    ]  # fmt: skip
    assert main(["ops", "-p", "acme"]) == 3
    assert main(["ops", "-p", "gneric"]) == 2
    assert "did you mean 'generic'?" in capsys.readouterr().err


def test_colour_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["fly"])
    assert capsys.readouterr().err.startswith("\x1b[1;31mtilewright: error:\x1b[0m ")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    main(["fly"])
    assert "\x1b" not in capsys.readouterr().err
