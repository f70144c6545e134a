"""Time of one inference against ONNX Runtime with one thread: the ratio of interleaved runs on this machine."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TITLE = "time of one inference, gcc -march=native, ratio to ONNX Runtime with one thread (below 1 is faster)"
ROOT = Path(__file__).parents[2]
NAMES = tuple(f"{name}_{form}" for form in ("f32", "int8") for name in ("resnet8", "dscnn", "vww", "ad"))
ROUNDS = 400
"""Single calls of each in turn; what else runs on the machine slows down some of them, never the smallest."""


def library(model: Path, folder: Path) -> tuple[ctypes.CDLL, str]:
    """The generated code as a shared library, and the model's name."""
    command = [sys.executable, "-m", "tilewright.cli", "compile", model, "-t", "host", "-o", folder, "-q"]
    subprocess.run([str(word) for word in [*command, "--optimize", "speed"]], check=True, capture_output=True)
    name = model.parent.name
    sources = sorted((folder / "src").glob("*.c"))
    flags = ["-std=c99", "-O2", "-ftree-vectorize", "-funroll-loops", "-march=native", "-fPIC", "-shared"]
    subprocess.run(["gcc", *flags, *sources, "-o", folder / "model.so", "-lm"], check=True)
    return ctypes.CDLL(str(folder / "model.so")), name


def ratio(folder: Path) -> tuple[float, float]:
    """Microseconds of ours and of ONNX Runtime: the smallest of interleaved calls."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    with np.load(folder / "inputs.npz") as stored:
        feed = dict(stored)
    with tempfile.TemporaryDirectory() as output:
        code, name = library(folder / "model.onnx", Path(output))
        run = getattr(code, f"{name}_run")
        best = [float("inf"), float("inf")]
        for _ in range(ROUNDS):
            for index, call in enumerate((run, lambda: session.run(None, feed))):
                call()  # brings the network back into the caches
                start = time.perf_counter()
                call()
                best[index] = min(best[index], (time.perf_counter() - start) * 1e6)
    return best[0], best[1]


def trained_models() -> Path:
    """The folder of the trained networks, which need not be there."""
    return Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))


def table() -> list[tuple[str, ...]]:
    """A row per trained network; none where they are not at hand."""
    rows: list[tuple[str, ...]] = [("network", "ours/us", "onnxruntime/us", "ratio")]
    trained = trained_models()
    for name in NAMES:
        if (trained / name / "model.onnx").exists():
            ours, theirs = ratio(trained / name)
            rows.append((name, f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}"))
    return rows
