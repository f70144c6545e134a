"""The light networks of the onnx package: one of them here, all nine by `python ci/light_networks.py`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from conftest import ROOT


@pytest.mark.slow
def test_a_light_network_is_checked_compiled_and_matches() -> None:
    command = [sys.executable, str(ROOT / "ci" / "light_networks.py"), "squeezenet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "match True" in done.stdout
    assert "0 differences from onnxruntime" in done.stdout


def test_the_random_weights_leave_every_class_a_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "ci"))
    from light_networks import FOLDER, filled

    model = filled(FOLDER / "light_shufflenet.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    [given] = session.get_inputs()
    image = np.random.default_rng(1).standard_normal(given.shape).astype(np.float32)
    [scores] = session.run(None, {given.name: image})
    assert 1e-6 < scores.min() < scores.max() < 0.1
