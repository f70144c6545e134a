"""A distribution whose list of entry points is damaged hides no other one."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tilewright.distributions import published
from tilewright.plugins import GROUP

GOOD = "[tilewright.platforms]\nacme = acme.platform:PLATFORM\n"


def install(folder: Path, name: str, entry_points: bytes) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_bytes(entry_points)


@pytest.mark.parametrize(
    ("damaged", "told"),
    [
        (b"[tilewright.platforms]\nno equals sign\n", True),
        (b"[another.tool]\nno equals sign\n", False),
        (b"\xff\xfe[tilewright", False),
    ],
)
def test_the_others_still_count(
    damaged: bytes, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install(tmp_path, "acme", GOOD.encode())
    install(tmp_path, "broken", damaged)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(logging.getLogger("tilewright"), "propagate", True)
    assert "acme" in [point.name for point in published(GROUP)]
    assert ("what 'broken' publishes is left out, its entry_points.txt is damaged" in caplog.text) == told
