"""The page in headless Chromium: it is drawn, it can be looked at, and nothing is asked of a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tilewright.report.build import load
from tilewright.report.html import render

SAMPLE = Path(__file__).parent / "sample_report.json"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1300,1600",
)  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The page of a stored report."""
    file = tmp_path / "report.html"
    file.write_text(render(load(SAMPLE)), encoding="utf-8")
    return file


def chromium(page: Path, folder: Path, *flags: str) -> str:
    """What the browser prints of a page."""
    program = shutil.which("chromium")
    assert program is not None, "chromium is missing; ci/test installs it"
    command = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, page.as_uri()]
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_browser_draws_a_box_for_every_buffer(page: Path, tmp_path: Path) -> None:
    drawn = chromium(page, tmp_path, "--dump-dom")
    buffers = sum(len(level.buffers) for level in load(SAMPLE).memory.values())
    assert drawn.count("<rect") >= buffers > 0


def test_it_can_be_looked_at(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    chromium(page, tmp_path, f"--screenshot={picture}")
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 20_000, "an empty page is smaller"


def test_nothing_is_loaded_from_anywhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?:https?:)?//", text)
