"""Builds with the real SDKs: skipped by name where one is not there, and what an application prints is waited for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import real_builds


def test_an_sdk_that_is_not_there_is_skipped_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("IDF_PATH", raising=False)
    monkeypatch.setenv("ZEPHYR_BASE", str(tmp_path))
    assert real_builds.main([]) == 0
    why = {
        "Zephyr": f"ZEPHYR_BASE is {tmp_path}, where there is no cmake/modules/FindHostTools.cmake",
        "ESP-IDF": "IDF_PATH is not set",
    }
    assert capsys.readouterr().out.splitlines() == [
        f"{sdk}, {network}: skipped, {reason}" for sdk, reason in why.items() for network in real_builds.NETWORKS
    ]
    assert real_builds.main(["Mbed"]) == 2
    assert "no SDK is called Mbed; there are Zephyr, ESP-IDF" in capsys.readouterr().err


def test_outputs_that_differ_fail(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In place of an SDK a script that prints and never ends, as firmware does."""
    (tmp_path / "here").touch()
    monkeypatch.setenv("IDF_PATH", str(tmp_path))
    monkeypatch.setattr(real_builds, "RUN_SECONDS", 20.0)
    for shown, said in (("output 0: 1 2 3", "FAILED"), ("", "showed no outputs")):
        loop = "import time; time.sleep(60)" if shown else "pass"
        command = [sys.executable, "-c", f"print({shown!r}, flush=True); {loop}"]
        sdk = real_builds.Sdk("IDF_PATH", "here", lambda *_, run=command: run)
        monkeypatch.setattr(real_builds, "SDKS", {"ESP-IDF": sdk})
        assert real_builds.main(["ESP-IDF"]) == 1
        assert said in capsys.readouterr().out
