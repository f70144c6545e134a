"""Streaming networks, call by call in simulators, held against ONNX Runtime: an LSTM, a TCN, and drawn ones."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from streaming import NAMED, causal

TITLE = "200 calls one after the other, state kept (bytes; instructions of a call on average and at most)"
CALLS, DRAWN = 200, 4
TARGETS = ("host", "qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imc", "qemu_pulp")


def table(*targets: str) -> list[tuple[str, ...]]:
    """A row per network and target; all targets where none is named."""
    rows: list[tuple[str, ...]] = [
        ("network", "target", "state", "RAM", "copied", "on average", "at most", "equal to ONNX Runtime")
    ]
    networks = {**NAMED, **{f"causal_{seed}": causal(seed) for seed in range(DRAWN)}}
    for name, model in networks.items():
        for target in targets or TARGETS:
            with tempfile.TemporaryDirectory() as folder:
                rows.append((name, target, *_run(model, Path(folder), target)))
    return rows


def _run(model: onnx.ModelProto, folder: Path, target: str) -> tuple[str, ...]:
    onnx.save(model, folder / "network.onnx")
    command = [sys.executable, "-m", "tilewright.cli", "run", str(folder / "network.onnx"), "-t", target]
    command += ["--state", "auto", "--frames", str(CALLS), "-o", str(folder / "project"), "-q", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        return ("", "", "", "", "", done.stderr.strip().splitlines()[-1])
    report = json.loads(done.stdout)
    if "memory" not in report:
        return ("", "", "", "", "", str(report)[:100])
    home = next(level for level in report["memory"].values() if level["state"])
    frames, states = report["run"]["frames"], report["model"]["states"]
    copied = sum(bool(state["copied"]) for state in states)
    equal = report["run"]["match"] and frames["reference_mismatches"] == 0
    counts = [f"{cost:,}" if cost else "-" for cost in (frames["mean_cost"], frames["worst_cost"])]
    return (str(home["state"]), str(home["total"]), f"{copied} of {len(states)}", *counts, "yes" if equal else "NO")
