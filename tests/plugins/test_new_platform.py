"""`tilewright new-platform`: what it writes is installed, conforms and passes its own tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tilewright.cli import main


def test_the_skeleton_is_installed_and_passes_its_tests(tmp_path: Path) -> None:
    folder, site = tmp_path / "zeta", tmp_path / "site"
    assert main(["new-platform", "zeta_one", "-o", str(folder)]) == 0
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    environment = os.environ | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    for command in (
        [*pip, "--disable-pip-version-check", "--target", str(site), str(folder)],
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],  # one of them runs conform
    ):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_it_writes_is_styled(tmp_path: Path) -> None:
    assert main(["new-platform", "zeta_two", "-o", str(tmp_path / "zeta")]) == 0
    for command in (["check"], ["format", "--check"]):
        ruff = [
            sys.executable,
            "-m",
            "ruff",
            *command,
            "--isolated",
            "--no-cache",
            "--line-length",
            "120",
            str(tmp_path / "zeta"),
        ]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Acme", "'Acme' is no name for a platform"),
        ("class", "a Python package"),
        ("json", "a package of that name exists already"),
        ("generic", "there is a platform 'generic' already"),
    ],
)
def test_a_bad_name_is_refused(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new-platform", name]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["new-platform", "zeta", "-o", str(tmp_path)]) == 2
    assert "holds something already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
