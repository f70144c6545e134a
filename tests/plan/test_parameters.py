"""Parameters and checkpoints: replaced all or none, saved with types and shapes, refused where damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model
from plan.plans import model_of
from tilewright.errors import StateError, UsageError
from tilewright.graphs.parameters import (
    Parameter,
    load_checkpoint,
    load_parameters,
    load_parameters_from_file,
    parameters,
    save_checkpoint,
    save_parameters,
)
from tilewright.model import Model


@pytest.fixture
def model() -> Model:
    constants: dict[str, Any] = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array([1, 2, 3], np.float32),
    }
    nodes = [node("MatMul", "x w", "p", "product"), node("Add", "p b", "y", "sum")]
    return model_of(onnx_model(nodes, {"x": (4, 2)}, ["y"], constants), passes=False)


def test_parameters_stand_by_name(model: Model) -> None:
    assert [p.name for p in parameters(model)] == ["b", "w"]
    with pytest.raises(UsageError, match="a parameter has no name"):
        Parameter("", np.zeros(1))


def test_loading_is_all_or_nothing(model: Model) -> None:
    changed = load_parameters(model, {"b": np.array([7, 8, 9], np.float32)})
    assert changed.constants["b"][0] == 7
    assert model.constants["b"][0] == 1
    with pytest.raises(UsageError, match="parameter 'z' is not in the network"):
        load_parameters(model, {"b": np.array([7, 8, 9], np.float32), "z": np.zeros(1)})
    with pytest.raises(UsageError, match=r"parameter 'b' is float32\[2\]: the network has float32\[3\]"):
        load_parameters(model, {"b": np.array([7, 8], np.float32)})
    with pytest.raises(UsageError, match=r"parameter 'b' is float64\[3\]"):
        load_parameters(model, {"b": np.zeros(3)})
    with pytest.raises(UsageError, match=r"parameter 'w' is float32\[3, 2\]: the network has float32\[2, 3\]"):
        load_parameters(model, {"w": np.zeros((3, 2), np.float32)})
    assert model.constants["b"][0] == 1


def test_files_keep_every_bit(model: Model, tmp_path: Path) -> None:
    odd = np.array([np.nan, np.inf, -0.0], np.float32)
    save_parameters([Parameter("b", odd), *(p for p in parameters(model) if p.name == "w")], tmp_path / "p.npz")
    loaded = load_parameters_from_file(model, tmp_path / "p.npz")
    assert loaded.constants["b"].tobytes() == odd.tobytes()
    assert loaded.constants["w"].dtype == np.float32
    wide = [Parameter("n", np.array([2**53 + 1])), Parameter("e", np.zeros((0, 3))), Parameter("s", np.array(2.5))]
    save_parameters(wide, tmp_path / "wide.npz")
    with pytest.raises(StateError, match="does not fit the network: parameter 'n' is not in the network"):
        load_parameters_from_file(model, tmp_path / "wide.npz")


def test_a_name_stands_once(model: Model, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two parameters are called 'w'"):
        save_parameters([*parameters(model), Parameter("w", np.zeros(2))], tmp_path / "p.npz")
    assert not (tmp_path / "p.npz").exists()


def test_names_of_the_model_are_no_paths(model: Model, tmp_path: Path) -> None:
    save_parameters([Parameter("../../w", np.ones(2))], tmp_path / "p.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["p.npz"]


def test_checkpoints_carry_the_optimiser(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    save_checkpoint(model, path, {"step": 12, "rate": 0.5, "name": "sgd", "betas": [0.9, 0.99]})
    loaded, state = load_checkpoint(model, path)
    assert state == {"step": 12, "rate": 0.5, "name": "sgd", "betas": [0.9, 0.99]}
    assert isinstance(state["step"], int)
    assert all(np.array_equal(loaded.constants[n], model.constants[n]) for n in model.constants)
    with pytest.raises(StateError, match="holds no parameters: it holds a checkpoint"):
        load_parameters_from_file(model, path)


def test_versions_and_damage_are_refused(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.graphs import parameters as module

    path = tmp_path / "c.npz"
    monkeypatch.setattr(module, "VERSION", 99)
    save_checkpoint(model, path)
    monkeypatch.undo()
    with pytest.raises(StateError, match="is of version 99"):
        load_checkpoint(model, path)
    save_checkpoint(model, path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(StateError, match="is no readable checkpoint"):
        load_checkpoint(model, path)


def test_a_failed_write_leaves_the_old_file(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    path = tmp_path / "p.npz"
    save_parameters(parameters(model), path)
    before = path.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UsageError, match=r"cannot write '.*': No space left on device"):
        save_parameters([Parameter("w", np.zeros(2))], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
