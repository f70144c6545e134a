"""`tilewright conform`: a table of kernels, an exit code, a refusal for what does not run here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tilewright.cli import main


def test_a_kernel_is_compared_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.json"
    assert main(["conform", "generic", "--kernel", "TopK", "--each", "2", "--json", str(answer)]) == 0
    assert "TopK" in capsys.readouterr().out
    found = json.loads(answer.read_text())
    assert found["rows"] == [{"kernel": "TopK", "operators": {"TopK": 2}, "differences": []}]


def test_another_machines_kernels_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "cortex_m"]) == 3
    assert "none of its targets" in capsys.readouterr().err
