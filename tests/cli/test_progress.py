"""Progress stands on a terminal alone, on standard error, and says nothing where nobody looks or `-q` is given."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MODELS
from tilewright.commands.progress import silent, stages, steps, watched

DIGITS = str(MODELS / "digits" / "model.onnx")


def seen(words: list[str], **variables: str) -> tuple[str, str]:
    """Standard output, and what a terminal at standard error shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **variables}
    command = [sys.executable, "-m", "tilewright", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.stdout is not None
        told = process.stdout.read()
        assert process.wait() == 0, shown
    os.close(ours)
    return told, shown.decode()


def test_a_terminal_sees_rows_come(tmp_path: Path) -> None:
    told, shown = seen(["check", DIGITS, "-t", "host,qemu_mps2_an386"])
    assert "2/2" in shown
    assert "\x1b[" not in told
    assert "fits" in told


def test_no_color_is_obeyed() -> None:
    _, shown = seen(["check", DIGITS, "-t", "host,qemu_mps2_an386"], NO_COLOR="1")
    colours = {part.split("m")[0] for part in shown.split("\x1b[")[1:] if part.split("m")[0].isdigit()}
    assert not {code for code in colours if 30 <= int(code) <= 107}


def test_quiet_and_dumb_terminals_see_nothing() -> None:
    assert seen(["check", DIGITS, "-t", "host,qemu_mps2_an386", "-q"])[1] == ""
    assert "2/2" not in seen(["check", DIGITS, "-t", "host,qemu_mps2_an386"], TERM="dumb")[1]


def test_nothing_is_watched_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with stages(quiet=False) as stage, steps(5, quiet=False) as step:
        assert stage is silent
        assert step is silent
        assert watched(stage) is None
        stage("binding")
        step("one")
    assert capsys.readouterr().err == ""
