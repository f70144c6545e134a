"""Products of codes by a constant vector are those by a matrix of one column; of floats they stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from integers.qdq_writer import Writer, weight
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target


def ran(proto: onnx.ModelProto, shape: tuple[int, ...], folder: Path) -> Compiled:
    """What was compiled for the host, whose results were those of the graph as it came."""
    onnx.save(proto, folder / "m.onnx")
    np.savez(folder / "x.npz", x=np.random.default_rng(3).standard_normal(shape).astype(np.float32) * 3)
    target = load_target("host")
    compiled = compile_model(folder / "m.onnx", CompileOptions(), target)
    write(compiled, folder / "c")
    report = run_model(compiled, target, RunOptions(inputs=folder / "x.npz"), folder / "c")
    assert report.run is not None
    assert report.run.match, report.run
    return compiled


def product_of(compiled: Compiled) -> tuple[int, ...]:
    """The shape of the right-hand side of the only product."""
    (call,) = (bound.call for bound in compiled.bound.nodes if bound.call.node.op == "MatMul")
    return call.shape(1)


@pytest.mark.parametrize("shape", [(5, 9), (2, 3, 4, 8)])
def test_codes_by_a_vector(shape: tuple[int, ...], tmp_path: Path) -> None:
    writer = Writer()
    given = writer.pair("x")
    vector = writer.weights("w", weight(shape[-1]), 0.02)
    writer.add("MatMul", f"{given} {vector}", "m")
    writer.add("Identity", writer.pair("m", 0.2), "y")
    assert product_of(ran(writer.model({"x": shape}), shape, tmp_path)) == (shape[-1], 1)


def test_floats_by_a_vector(tmp_path: Path) -> None:
    vector = np.linspace(-1, 1, 8, dtype=np.float32)
    proto = onnx_model([node("MatMul", "x w", "y")], {"x": (3, 8)}, ["y"], {"w": vector})
    assert product_of(ran(proto, (3, 8), tmp_path)) == (8,)
