"""A long skip that is cheap to compute twice: bytes against operations, as the user favours them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, Optimize, RunOptions
from tilewright.report.header import header
from tilewright.target import load_target


def long_skip(hidden: int) -> onnx.ModelProto:
    """x -> s (256) -> hidden -> 256, and s added again behind it."""
    draw = np.random.default_rng(0)
    sizes = {"a": (16, 256), "b": (256, hidden), "c": (hidden, 256), "d": (256, 4)}
    constants = {name: (draw.standard_normal(shape) / 8).astype(np.float32) for name, shape in sizes.items()}
    nodes = [
        node("MatMul", "x a", "s", "skip"),
        node("MatMul", "s b", "h", "widen"),
        node("MatMul", "h c", "g", "shrink"),
        node("Mul", "g s", "m", "join"),
        node("MatMul", "m d", "y", "end"),
    ]
    return onnx_model(nodes, {"x": [1, 16]}, ["y"], constants)


def compiled(folder: Path, hidden: int, optimize: Optimize, target: str = "host", *off: str) -> Compiled:
    onnx.save(long_skip(hidden), folder / "net.onnx")
    options = CompileOptions(optimize=optimize, disabled_passes=frozenset(off))
    return compile_model(folder / "net.onnx", options, load_target(target))


@pytest.mark.parametrize(
    ("hidden", "optimize", "twice"),
    [
        (1024, "balanced", True),  # 4,096 of 530,000 multiply-accumulates
        (512, "balanced", False),  # more than one in a hundred
        (512, "size", True),
        (1024, "speed", False),
    ],
)
def test_what_is_favoured_decides(tmp_path: Path, hidden: int, optimize: Optimize, twice: bool) -> None:
    found = compiled(tmp_path, hidden, optimize)
    stored = compiled(tmp_path, hidden, optimize, "host", "recompute")
    again = [i.name for i in found.plan.instructions if "_again" in i.name]
    (report,) = [p for p in found.report.passes if p.name == "recompute"]
    assert bool(again) is twice
    assert len(stored.plan.instructions) == 5
    fewer = stored.placed.arena_bytes - found.placed.arena_bytes
    assert (fewer >= 900) is twice
    assert (report.saved_bytes, report.added_operations) == ((fewer, 4096) if twice else (0, 0))
    assert ("recompute saved" in header(found.report)) is twice
    assert found.placed.solution.status == "optimal"


def test_the_second_time_takes_no_second_code(tmp_path: Path) -> None:
    found = compiled(tmp_path, 1024, "balanced")
    stored = compiled(tmp_path, 1024, "balanced", "host", "recompute")
    assert found.artifacts.functions == stored.artifacts.functions
    assert found.artifacts.constant_bytes == stored.artifacts.constant_bytes


@pytest.mark.sim("qemu-system-arm")
def test_it_runs_inside_the_fences(tmp_path: Path) -> None:
    target = load_target("qemu_mps2_an386")
    found = compiled(tmp_path, 1024, "balanced", target.name)
    project = tmp_path / "project"
    project.mkdir()
    write(found, project)
    report = run_model(found, target, RunOptions(layers=True), project)
    assert report.run is not None
    assert report.run.match
    assert report.run.fences == ("hardware", "plugin")
    assert report.run.reference is not None
    assert report.run.reference.mismatches == 0
    assert any("_again" in layer.name for layer in report.layers)
