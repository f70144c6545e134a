"""With nothing installed a run exits 6 and names the Debian package; whether a network fits is told all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.target import known_targets, load_target

BARE_METAL = [name for name in known_targets() if load_target(name).simulator == "qemu"]
CASES = [(board, tool) for board in BARE_METAL for tool in load_target(board).tools]


@pytest.mark.parametrize(("board", "tool"), CASES)
def test_every_missing_tool_exits_6_with_its_package(
    board: str,
    tool: str,
    tmp_path: Path,
    network: Callable[[str], NetworkFiles],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = load_target(board)
    for other in target.tools:
        if other != tool:
            (tmp_path / other).write_text("#!/bin/sh\nexit 1\n")
            (tmp_path / other).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["run", str(network("digits_int8").model), "-t", board, "--json", "-"]) == 6
    captured = capsys.readouterr()
    assert f"{tool} is not installed" in captured.err
    assert f"install the Debian package '{target.tools[tool]}'" in captured.err
    assert json.loads(captured.out)["code"] == 6


def test_with_nothing_installed_all_packages_are_named_at_once(
    tmp_path: Path,
    network: Callable[[str], NetworkFiles],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    model = str(network("digits_int8").model)
    assert main(["run", model, "-t", "qemu_mps2_an386"]) == 6
    assert "install the Debian packages 'gcc-arm-none-eabi' and 'qemu-system-arm'" in capsys.readouterr().err
    assert main(["run", model, "-t", "host"]) == 6
    assert "install the Debian package 'gcc'" in capsys.readouterr().err


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
