"""`tune` over many models and targets: a lock for each, the same as one by one; what fails costs no other lock."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MODELS
from tilewright.cli import main

DIGITS = [str(MODELS / name / "model.onnx") for name in ("digits", "digits_int8")]


def test_a_lock_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, alone = tmp_path / "locks", tmp_path / "alone.lock"
    assert main(["tune", *DIGITS, "-t", "host", "--jobs", "2", "-o", str(folder), "-q"]) == 0
    assert sorted(file.name for file in folder.iterdir()) == ["digits-host.lock", "digits_int8-host.lock"]
    told = capsys.readouterr().out
    assert told.index(f"{DIGITS[0]} on host: digits-host.lock") < told.index(f"{DIGITS[1]} on host")
    assert main(["tune", DIGITS[1], "-t", "host", "-o", str(alone), "-q"]) == 0
    assert alone.read_bytes() == (folder / "digits_int8-host.lock").read_bytes()


def test_what_fails_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\xff\xff")
    words = ["tune", DIGITS[1], str(broken), "-t", "host", "-o", str(tmp_path / "locks")]
    assert main(words) == 3
    assert (tmp_path / "locks" / "digits_int8-host.lock").is_file()
    assert f"{broken} on host: error: " in capsys.readouterr().out
