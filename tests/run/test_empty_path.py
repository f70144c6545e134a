"""With nothing installed a run exits 6 and names the Debian package; whether a network fits is told all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.cli import main


@pytest.mark.parametrize(
    ("board", "package"),
    [
        ("qemu_rv32imc", "gcc-riscv64-unknown-elf"),
        ("qemu_mps2_an386", "gcc-arm-none-eabi"),
        ("host", "gcc"),
    ],
)
def test_a_missing_compiler_exits_6(
    board: str,
    package: str,
    tmp_path: Path,
    network: Callable[[str], NetworkFiles],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["run", str(network("digits_int8").model), "-t", board, "--json", "-"]) == 6
    captured = capsys.readouterr()
    assert f"install the Debian package '{package}'" in captured.err
    assert json.loads(captured.out)["code"] == 6


def test_check_needs_no_tool_and_says_what_would_do(
    tmp_path: Path,
    network: Callable[[str], NetworkFiles],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["check", str(network("vww_int8").model), "-t", "qemu_microbit,qemu_rv32imc", "--json", "-"]
    assert main(words) == 4
    answer = json.loads(capsys.readouterr().out)
    small, large = answer["rows"]
    assert (small["fits"], large["fits"]) == (False, True)
    assert small["memory"]["ram"]["estimated"] is True
    assert small["error"]["smallest"]["ram"] == small["memory"]["ram"]["worst_case"] > 16384
    assert "the level has 16,384 B" in small["error"]["why"]


def test_vww_is_refused_on_the_smallest_board_before_anything_is_built(
    network: Callable[[str], NetworkFiles],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["run", str(network("vww_int8").model), "-t", "qemu_microbit", "--quantized-io"]) == 4
    assert "B and the level has 16,384 B, " in capsys.readouterr().err
