"""Bounds on instructions beside what many inputs take in the simulator.

bash ci/bench time                       every network and board
bash ci/bench time:ad_int8,qemu_rv32imc  some of them; a number sets how many million instructions each may simulate
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tilewright.compile import Compiled, compile_model, write
from tilewright.model import Array
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.run.inputs import input_arrays
from tilewright.run.simulate import execute
from tilewright.target import load_target
from tilewright.timing.bound import Analysis
from tilewright.timing.inputs import placed_inputs
from tilewright.timing.network import DEBUG

TITLE = "instructions of one run: bounds, and what was seen"
ROOT = Path(__file__).parents[2]
TRAINED = Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))
INTEGERS = ("ad_int8", "dscnn_int8", "resnet8_int8", "vww_int8")
FLOATS = ("ad_f32", "dscnn_f32")
CELLS = (
    *((name, board) for board in ("qemu_mps2_an386", "qemu_mps2_an385", "qemu_rv32imc") for name in INTEGERS),
    *((name, "qemu_mps2_an386") for name in FLOATS),
    ("ad_f32", "qemu_rv32imc"),
)
MILLIONS, CALLS, MOST = 3000, 200, 10_000


@dataclass(frozen=True)
class Seen:
    """Inputs that were simulated, the smallest and the largest count, how many known inputs were counted exactly."""

    inputs: int
    least: int
    most: int
    exact: int


def drawn(compiled: Compiled, count: int) -> Iterator[list[Array]]:
    """Inputs: constant, of extremes, in runs, of two values, normal and uniform."""
    ordinary, random = input_arrays(compiled.plan, None, 0), np.random.default_rng(0)
    for number in range(count):
        arrays = []
        for array in ordinary:
            low, high = (-128, 127) if array.dtype == np.int8 else (-4.0, 4.0)
            uniform = random.uniform(low, high, array.shape)
            kinds = (
                np.full(array.shape, random.choice((low, 0, high))), np.where(uniform > 0, low, high),
                np.repeat(random.uniform(low, high, array.size // 16 + 1), 16)[: array.size].reshape(array.shape),
                np.where(uniform > 0, *random.uniform(low, high, 2)), random.normal(0, high / 3, array.shape), uniform,
            )  # fmt: skip
            arrays.append(np.clip(np.round(kinds[number % 6], 6), low, high).astype(array.dtype))
        yield arrays


def row(name: str, board: str, millions: int) -> tuple[str, ...]:
    """One network on one board."""
    target, codes = load_target(board), name.endswith("int8")
    compiled = compile_model(TRAINED / name / "model.onnx", CompileOptions(quantized_io=codes), target)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "project").mkdir()
        write(compiled, work / "project")
        image = build(work / "project", compiled.artifacts.interface, target, work / "build", extra_flags=DEBUG)
        analysis, begun = Analysis(image), time.process_time()
        bound = analysis.bound().cost
        seconds = time.process_time() - begun
        count = max(12, min(MOST, millions * 1_000_000 // bound.most))
        inputs = [[array.tobytes() for array in arrays] for arrays in drawn(compiled, count)]
        calls: list[int] = []
        for at in range(0, count, CALLS):
            batch = inputs[at : at + CALLS]
            counts = execute(image, batch[0], more=batch[1:], count=True, timeout=3000).counts
            assert counts is not None
            calls += counts.calls or (counts.instructions,)
        exact = 0
        for number in range(3):
            cost = analysis.bound(placed_inputs(compiled.placed, image, inputs[number])).cost
            exact += cost.least == cost.most == calls[number]
    seen = Seen(len(calls), min(calls), max(calls), exact)
    inside = bound.least <= seen.least and seen.most <= bound.most
    return (
        name, board, f"{seen.inputs:,}", f"{seen.least:,}", f"{seen.most:,}", f"{bound.least:,}", f"{bound.most:,}",
        f"{bound.most / seen.most:.5f}", "yes" if inside else "NO", f"{seen.exact} of 3", f"{seconds:.1f}",
    )  # fmt: skip


def table(*parts: str) -> list[tuple[str, ...]]:
    """A row per network and board that is at hand."""
    millions = next((int(part) for part in parts if part.isdigit()), MILLIONS)
    words = [part for part in parts if not part.isdigit()]
    rows: list[tuple[str, ...]] = [
        ("network", "board", "inputs", "seen least", "seen most", "bound least", "bound most", "bound / seen", "inside",
         "known exact", "seconds")
    ]  # fmt: skip
    for name, board in CELLS:
        if (TRAINED / name / "model.onnx").exists() and all(word in (name, board) for word in words):
            rows.append(row(name, board, millions))
            print("  ".join(rows[-1]), flush=True)
    return rows
