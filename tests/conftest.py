"""What every test may ask for: networks of our own, and the trained ones where they are at hand."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built_once import Headers, Objects
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "tests" / "models"

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # a busy machine is no fault of a test


@dataclass(frozen=True)
class NetworkFiles:
    """A network and one test vector; the npz keys are the model's input and output names."""

    model: Path
    inputs: Path
    outputs: Path

    def arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """The test vector: inputs and the outputs of ONNX Runtime with its optimisations off."""
        with np.load(self.inputs) as inputs, np.load(self.outputs) as outputs:
            return dict(inputs), dict(outputs)


def files_in(folder: Path) -> NetworkFiles:
    """The three files of a network's folder."""
    return NetworkFiles(folder / "model.onnx", folder / "inputs.npz", folder / "outputs.npz")


def trained_folder() -> Path:
    """Where the trained MLPerf Tiny networks lie: `TILEWRIGHT_MODELS`, else beside the checkout."""
    named = os.environ.get("TILEWRIGHT_MODELS")
    return Path(named) if named else ROOT.parent / "shared" / "models"


@pytest.fixture(scope="session")
def network() -> Callable[[str], NetworkFiles]:
    """Finds a network of our own by name, e.g. `digits`, `resnet8_int8`; the larger ones are generated on first use."""

    def find(name: str) -> NetworkFiles:
        committed = MODELS / name
        if (committed / "model.onnx").exists():
            return files_in(committed)
        cached = MODELS / "cache" / name
        if not (cached / "model.onnx").exists():
            script = MODELS / "make_networks.py"
            done = subprocess.run([sys.executable, script, name, "-o", cached.parent], capture_output=True, text=True)
            if done.returncode:
                raise LookupError(f"network '{name}' cannot be generated: {done.stderr}")
        return files_in(cached)

    return find


@pytest.fixture(scope="session")
def trained() -> Callable[[str], NetworkFiles]:
    """Finds a trained network by name, e.g. `resnet8_f32`, and skips the test where they are not at hand."""

    def find(name: str) -> NetworkFiles:
        files = files_in(trained_folder() / name)
        if not files.model.exists():
            pytest.skip(f"trained models: no {name} in {trained_folder()}; set TILEWRIGHT_MODELS")
        return files

    return find


@pytest.fixture(autouse=True)
def _nobody_says_how_wide_the_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are as a pipe gets them, whatever COLUMNS says where the tests are started."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session", autouse=True)
def _objects_are_compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same C with the same options is compiled once for all tests that build a test image, QEMU's plugin and the
    header of the stand-in for CUDA too."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "objects"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_CACHE", os.fspath(folder.with_name("plugin")))
        patch.setattr("tilewright.run.build._compile", Objects(folder).compile)
        patch.setattr("tilewright.run.cuda_library.compile_command", Headers(folder.with_name("headers")).command)
        yield


def pytest_collection_finish() -> None:
    """What importing and collecting left stays to the end: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are written anew on request."""
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")
