"""Instructions of one inference on the host, counted by callgrind, beside peers; and the bytes that it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TITLE = "one inference, gcc for x86-64-v3 (callgrind; millions of instructions, bytes)"
ROOT = Path(__file__).parents[2]
NAMES = tuple(f"{name}_{form}" for form in ("f32", "int8", "int8ort") for name in ("resnet8", "dscnn", "vww", "ad"))
PEERS = {
    "resnet8_f32": ("111.83", "3.04"), "dscnn_f32": ("11.06", "1.02"), "vww_f32": ("26.45", "2.76"),
    "ad_f32": ("0.632", "0.177"), "resnet8_int8": ("116.39", "5.06"), "dscnn_int8": ("13.11", "1.16"),
    "vww_int8": ("46.81", "4.14"), "ad_int8": ("0.461", "0.595"),
}  # fmt: skip
"""Counted the same way on another day: onnx2c ea045cc with gcc -O3 -march=x86-64-v3, onnxruntime 1.31 (AVX2)."""
FLAGS = {"build files": None, "-O2": ["-O2"], "-O3": ["-O3"]}


def networks() -> list[tuple[str, Path]]:
    """Our own digits networks, and the trained MLPerf Tiny ones where they are at hand."""
    own = [(name, ROOT / "tests" / "models" / name) for name in ("digits", "digits_int8")]
    trained = Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))
    return own + [(name, trained / name) for name in NAMES if (trained / name / "model.onnx").exists()]


def target(folder: Path, flags: list[str] | None) -> str:
    """The target for x86-64-v3, or a copy of it in `folder` with a stranger's optimisation flags."""
    if flags is None:
        return "host_x86_64_v3"
    text = (ROOT / "targets" / "host_x86_64_v3" / "target.toml").read_text()
    lines = [f"compile_flags = {json.dumps(flags)}" if s.startswith("compile_flags") else s for s in text.splitlines()]
    (folder / "target.toml").write_text("\n".join(lines) + "\n")
    return str(folder)


def counted(folder: Path, flags: list[str] | None) -> dict[str, object] | None:
    """The report of one counted run; None where it failed."""
    with tempfile.TemporaryDirectory() as board, tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "tilewright.cli", "run", folder / "model.onnx"]
        command += ["-t", target(Path(board), flags), "--profile", "--quantized-io" if "int8" in folder.name else "-q"]
        command += ["-o", output, "--json", "-", "-q"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    counts: dict[str, object] | None = json.loads(done.stdout) if done.returncode == 0 else None
    return counts


def table() -> list[tuple[str, ...]]:
    """A row per network."""
    rows: list[tuple[str, ...]] = [
        ("network", *FLAGS, "onnx2c -O3", "onnxruntime", "RAM", "of it stack", "constants", "text", "match")
    ]
    for name, folder in networks():
        reports = [counted(folder, flags) for flags in FLAGS.values()]
        if any(report is None for report in reports):
            rows.append((name, "failed", *[""] * (len(rows[0]) - 2)))
            continue
        runs = [report["run"] for report in reports if report is not None]
        memory = reports[0]["memory"] if reports[0] is not None else {}
        millions = [f"{run['instructions'] / 1e6:.3f}" if run["instructions"] else "" for run in runs]  # type: ignore[index]
        ram, flash = memory["ram"], memory["flash"]  # type: ignore[index]
        text = runs[0]["text_bytes"], str(runs[0]["match"]).lower()  # type: ignore[index]
        peers = PEERS.get(name, ("", ""))
        figures = (ram["worst_case"], ram["stack"], flash["constants"], *text)
        rows.append((name, *millions, *peers, *map(str, figures)))
    return rows
