"""Time of one inference against ONNX Runtime through its C interface, one thread each: calls in turn here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

TITLE = (
    "time of one inference, gcc -march=native, against ONNX Runtime's C interface with one thread (below 1 is faster)"
)
ROOT = Path(__file__).parents[2]
NAMES = tuple(f"{name}_{form}" for form in ("f32", "int8") for name in ("resnet8", "dscnn", "vww", "ad"))
ROUNDS = 1000
"""Single calls of each in turn; what else runs on the machine slows down some of them, never the smallest."""
FLAGS = ("-std=gnu11", "-O2", "-ftree-vectorize", "-funroll-loops", "-march=native")


@dataclass(frozen=True)
class Ratio:
    """Microseconds of ours and of ONNX Runtime, smallest and median, and the median of the ratios of neighbours."""

    ours: tuple[float, float]
    theirs: tuple[float, float]
    median: float
    differing_bytes: int

    @property
    def smallest(self) -> float:
        """The ratio of the smallest."""
        return self.ours[0] / self.theirs[0]


def library() -> Path | None:
    """The library of the wheel of onnxruntime; None where there is none."""
    import onnxruntime

    files = sorted((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))
    return files[0] if files else None


def ratio(folder: Path, rounds: int = ROUNDS) -> Ratio | None:
    """What one network of one input and one output takes; None where there is no library to compare with."""
    runtime = library()
    if runtime is None:
        return None
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    with np.load(folder / "inputs.npz") as stored:
        value = np.ascontiguousarray(stored[graph.input[0].name])
    types = [one.type.tensor_type.elem_type for one in (graph.input[0], graph.output[0])]
    shape = [one.dim_value or 1 for one in graph.output[0].type.tensor_type.shape.dim]
    size_bytes = int(np.prod(shape)) * onnx.helper.tensor_dtype_to_np_dtype(types[1]).itemsize
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "input.bin").write_bytes(value.tobytes())
        program = _built(folder / "model.onnx", place)
        words = [program, runtime, folder / "model.onnx", place / "input.bin", size_bytes]
        words += [graph.input[0].name, graph.output[0].name, rounds]
        words += [types[0], len(value.shape), *value.shape, types[1], len(shape), *shape]
        done = subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True)
    told = json.loads(done.stdout)
    return Ratio(tuple(told["ours"]), tuple(told["theirs"]), told["ratio"], told["differing"])


def _built(model: Path, place: Path) -> Path:
    """The program that times the generated code of a network."""
    command = [sys.executable, "-m", "tilewright.cli", "compile", model, "-t", "host", "-o", place / "net", "-q"]
    command += ["--optimize", "speed", "--weights", "c"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    sources = sorted((place / "net" / "src").glob("*.c"))
    name = next(file.stem for file in (place / "net" / "src").glob("*.h") if not file.stem.endswith("_internal"))
    network = [f"-DNETWORK={name}", f'-DHEADER="{name}.h"', "-I", place / "net" / "src"]
    program = place / "against_ort"
    words = ["gcc", *FLAGS, *network, Path(__file__).with_name("against_ort.c"), *sources, "-o", program, "-lm", "-ldl"]
    subprocess.run([str(word) for word in words], check=True)
    return program


def trained_models() -> Path:
    """The folder of the trained networks, which need not be there."""
    return Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))


def table() -> list[tuple[str, ...]]:
    """A row per trained network; none where they are not at hand, a note where ONNX Runtime's library is not."""
    rows: list[tuple[str, ...]] = [("network", "ours/us", "onnxruntime/us", "smallest", "median")]
    trained = trained_models()
    for name in NAMES:
        if not (trained / name / "model.onnx").exists():
            continue
        ratios = ratio(trained / name)
        if ratios is None:
            return [*rows, (name, "skipped: libonnxruntime.so is not in the wheel", "", "", "")]
        times = (f"{ratios.ours[0]:.0f}", f"{ratios.theirs[0]:.0f}", f"{ratios.smallest:.2f}", f"{ratios.median:.2f}")
        rows.append((name, *times))
    return rows
