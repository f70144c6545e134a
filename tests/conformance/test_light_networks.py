"""The light networks of the onnx package: one of them here, all nine by `python ci/light_networks.py`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.slow
def test_a_light_network_is_checked_compiled_and_matches() -> None:
    command = [sys.executable, str(ROOT / "ci" / "light_networks.py"), "squeezenet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "match True" in done.stdout
    assert "0 differences from onnxruntime" in done.stdout
