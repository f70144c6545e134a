"""Views from the file to the report: bytes saved, order chosen for them, switched off, run inside the fences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, InputOutput, Optimize, RunOptions
from tilewright.target import load_target


def two_branches() -> onnx.ModelProto:
    """Two wide parts of a Concat, and between them another wide tensor that is soon gone."""
    draw = np.random.default_rng(0)
    constants: dict[str, object] = {"one": np.array([1]), "k": np.ones((1, 4), np.float32)}
    nodes = []
    for name, wide in (("a", 512), ("w", 768), ("b", 512)):
        constants[f"{name}_m"] = draw.standard_normal((8, wide)).astype(np.float32)
        nodes.append(node("MatMul", f"x {name}_m", name, f"make_{name}"))
        if name == "w":
            nodes.append(node("ReduceMean", "w one", "ws", "shrink_w"))
    nodes += [
        node("Concat", "a b", "c", "join", axis=1),
        node("ReduceMean", "c one", "cs", "shrink_c"),
        node("Concat", "ws cs k", "y", "last", axis=1),
    ]
    return onnx_model(nodes, {"x": [1, 8]}, ["y"], constants, opset=18)


def compiled(model: onnx.ModelProto, folder: Path, target: str = "host", *off: str) -> Compiled:
    onnx.save(model, folder / "net.onnx")
    options = CompileOptions(disabled_passes=frozenset(off))
    return compile_model(folder / "net.onnx", options, load_target(target))


def test_the_order_is_chosen_for_tensors_that_are_not_copied(tmp_path: Path) -> None:
    model = two_branches()
    found = compiled(model, tmp_path)
    saved = {each.name: each.saved_bytes for each in found.report.passes}
    order = [i.name for i in found.plan.instructions]
    assert order.index("shrink_w") < order.index("make_a")
    assert saved["views"] == 4064
    assert saved["reorder"] == 1024
    kept = compiled(model, tmp_path, "host", "reorder").placed.arena_bytes
    copied = compiled(model, tmp_path, "host", "views").placed.arena_bytes
    assert copied - kept >= 3000
    assert kept - found.placed.arena_bytes >= 1000
    assert found.placed.solution.status == "optimal"


def test_the_report_calls_it_a_view_and_counts_its_bytes_once(tmp_path: Path) -> None:
    found = compiled(two_branches(), tmp_path)
    layers = {layer.name: layer for layer in found.report.layers}
    assert (layers["join"].kernel, layers["join"].macs) == ("view", 0)
    row = found.report.memory["ram"]
    assert row.activations + row.io + row.scratch + row.padding == row.worst_case
    assert row.live_set is not None
    assert row.worst_case <= row.live_set + 16
    assert all(layer.kernel != "view" for layer in compiled(two_branches(), tmp_path, "host", "views").report.layers)


@pytest.mark.parametrize("io", ["arena", "caller"])
@pytest.mark.parametrize("optimize", ["balanced", "speed"])
def test_views_beside_memory_of_the_caller(tmp_path: Path, io: InputOutput, optimize: Optimize) -> None:
    nodes = [
        node("Relu", "x", "a"), node("Concat", "a x k", "b", axis=0), node("Tanh", "b", "c"),
        node("Split", "c parts", "d e", axis=0), node("Abs", "d", "y"), node("Concat", "e a", "z", axis=0),
        node("Abs", "z", "w"),
    ]  # fmt: skip
    constants = {"k": np.ones((2, 8), np.float32), "parts": np.array([6, 4])}
    onnx.save(onnx_model(nodes, {"x": [4, 8]}, ["y", "w"], constants), tmp_path / "net.onnx")
    options, target = CompileOptions(io=io, optimize=optimize), load_target("host")
    found = compile_model(tmp_path / "net.onnx", options, target)
    assert any(layer.kernel == "view" for layer in found.report.layers)
    project = tmp_path / "project"
    project.mkdir()
    write(found, project)
    report = run_model(found, target, RunOptions(layers=True, reference=False), project)
    assert report.run is not None
    assert report.run.match


@pytest.mark.sim("qemu-system-arm")
@pytest.mark.parametrize("name", ["qemu_mps2_an386", "qemu_microbit"])
def test_views_run_inside_both_fences(tmp_path: Path, name: str) -> None:
    found = compiled(two_branches(), tmp_path, name)
    target = load_target(name)
    project = tmp_path / "project"
    project.mkdir()
    write(found, project)
    report = run_model(found, target, RunOptions(layers=True, profile=True, reference=False), project)
    assert report.run is not None
    assert report.run.match
    assert set(report.run.fences) == ({"hardware", "plugin"} if name == "qemu_mps2_an386" else {"plugin"})
    views = [layer for layer in report.layers if layer.kernel == "view"]
    assert [layer.name for layer in views] == ["join", "last"]
    assert all(layer.instructions is not None and layer.instructions < 60 for layer in views)
    assert views[0].max_abs_error is not None
