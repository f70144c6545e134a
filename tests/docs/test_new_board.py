"""The board of docs/new_board.md is written and run as the page prints it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tilewright.target import load_target, missing_tools

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "new_board.md").read_text(encoding="utf-8")
MODEL = "tests/models/digits_int8/model.onnx"


def tilewright(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tilewright.cli", *arguments]
    environment = os.environ | {"NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """The folder of the page, beside the networks of this repository."""
    ((name, text),) = re.findall(r'^```toml title="([^"]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(text)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    folder: Path = (tmp_path / name).parent
    return folder


def test_the_commands_of_the_page_work(board: Path) -> None:
    for tool, _ in missing_tools(load_target(board)):
        pytest.skip(f"{tool} is not installed")
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for command in commands.splitlines():
        done = tilewright(board.parent, *command.split()[1:])
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    report = json.loads((board.parent / "build" / "netduino" / "report.json").read_text())
    assert (report["target"], report["platform"]) == ("netduino", "cortex_m")
    assert report["memory"]["ram"]["estimated"] is False


def test_a_board_that_nothing_simulates_is_checked_and_refused_by_run(board: Path) -> None:
    toml = board / "target.toml"
    toml.write_text(re.sub(r'(?s)simulator = "qemu".*', 'simulator = "none"', toml.read_text()))
    assert "netduino" in tilewright(board.parent, "check", MODEL, "-t", "netduino").stdout
    done = tilewright(board.parent, "run", MODEL, "-t", "netduino")
    assert (done.returncode, "target 'netduino' has no simulator" in done.stderr) == (2, True)
