"""Instructions of one inference on the host, counted by callgrind, and the bytes that it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TITLE = "one inference on the host (callgrind; millions of instructions, bytes)"
ROOT = Path(__file__).parents[2]
NAMES = tuple(f"{name}_{form}" for form in ("f32", "int8", "int8ort") for name in ("resnet8", "dscnn", "vww", "ad"))


def networks() -> list[tuple[str, Path]]:
    """Our own digits networks, and the trained MLPerf Tiny ones where they are at hand."""
    own = [(name, ROOT / "tests" / "models" / name) for name in ("digits", "digits_int8")]
    trained = Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))
    return own + [(name, trained / name) for name in NAMES if (trained / name / "model.onnx").exists()]


def table() -> list[tuple[str, ...]]:
    """A row per network."""
    rows: list[tuple[str, ...]] = [("network", "instructions/M", "RAM", "constants", "text", "match")]
    for name, folder in networks():
        with tempfile.TemporaryDirectory() as output:
            command = [sys.executable, "-m", "tilewright.cli", "run", folder / "model.onnx", "-t", "host", "--profile"]
            command += ["--inputs", folder / "inputs.npz", "--expect", folder / "outputs.npz"]
            command += ["-o", output, "--json", "-", "-q"]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            rows.append((name, f"exit {done.returncode}", *[""] * 4))
            continue
        report = json.loads(done.stdout)
        run = report["run"]
        written = [level for level in report["memory"].values() if not level["readonly"]]
        constants = sum(level["constants"] or 0 for level in report["memory"].values())
        millions = "" if run["instructions"] is None else f"{run['instructions'] / 1e6:.3f}"
        ram = sum(level["worst_case"] for level in written)
        rows.append((name, millions, str(ram), str(constants), str(run["text_bytes"]), str(run["match"]).lower()))
    return rows
