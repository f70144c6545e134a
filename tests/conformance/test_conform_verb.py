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


def test_a_kernel_that_the_boards_core_lacks_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "cortex_m", "-t", "qemu_mps2_an386", "--kernel", "DepthwiseMve"]) == 3
    said = capsys.readouterr().err
    assert "no kernel could be compared: DepthwiseMve: not compared, it needs mve; compare on" in said


def test_a_library_is_compared_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "cuda", "-t", "cuda_host", "--kernel", "MeanCodes", "--each", "1"]) == 0
    assert "conforms" in capsys.readouterr().out
