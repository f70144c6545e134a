"""`run` on the targets of the platform cuda: one sample, whole sets with labels, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import MODELS
from network_files import save_arrays
from tilewright.cli import main


def test_one_sample_is_compared_layer_by_layer(network: Callable[[str], Any], tmp_path: Path) -> None:
    files = network("digits_int8")
    asked = ["run", str(files.model), "-t", "cuda_host", "--layers", "--inputs", str(files.inputs), "-q"]
    assert main([*asked, "--json", str(tmp_path / "r.json")]) == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["run"]["match"]
    assert report["run"]["reference"]["mismatches"] == report["run"]["reference"]["explained"]
    assert all(layer["max_lsb_error"] in (0, None) and layer["max_abs_error"] == 0 for layer in report["layers"])
    assert report["memory"]["hbm"]["status"] == "optimal"
    assert report["run"]["samples"] is None


def test_a_set_with_labels_gives_the_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = MODELS / "digits_int8"
    with np.load(folder / "samples.npz") as archive:
        arrays = dict(archive)
    with np.load(folder / "inputs.npz") as archive:
        (name,) = archive.files
    values = arrays[name]
    (output,) = (key for key in arrays if key != name)
    labels = arrays[output].reshape(len(values), -1).argmax(axis=1)
    labels[0] = (labels[0] + 1) % 10
    save_arrays(tmp_path / "set.npz", {name: values, "labels": labels})
    asked = ["run", str(folder / "model.onnx"), "-t", "cuda_host", "--inputs", str(tmp_path / "set.npz")]
    assert main([*asked, "--json", str(tmp_path / "r.json")]) == 0
    run = json.loads((tmp_path / "r.json").read_text())["run"]
    assert run["samples"] == len(values)
    assert run["accuracy"] == pytest.approx(1 - 1 / len(values))
    assert run["match"]
    assert f"{len(values)} samples, accuracy" in capsys.readouterr().out


def test_sets_that_do_not_fit_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = MODELS / "digits_int8"
    with np.load(folder / "inputs.npz") as archive:
        (name,) = archive.files
        value = archive[name]
    many = np.repeat(value, 5, axis=0)
    save_arrays(tmp_path / "set.npz", {name: many, "labels": np.zeros(4, np.int64)})
    asked = ["run", str(folder / "model.onnx"), "-t", "cuda_host", "--inputs", str(tmp_path / "set.npz")]
    assert main(asked) == 2
    assert "holds different numbers of samples: 4, 5" in capsys.readouterr().err
    save_arrays(tmp_path / "set.npz", {name: many})
    np.savez(tmp_path / "want.npz", nothing=np.zeros(3))
    assert main([*asked, "--expect", str(tmp_path / "want.npz")]) == 2
    assert "does not hold 5 samples of the output" in capsys.readouterr().err


def test_without_a_gpu_the_exit_code_is_that_of_a_missing_tool(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tilewright.run import cuda_library

    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(cuda_library, "_toolkit", lambda name: None)
    assert main(["run", str(MODELS / "digits_int8" / "model.onnx"), "-t", "cuda_sm90"]) == 6
    assert "nvcc is not installed" in capsys.readouterr().err
