"""TopK in C: rows in every order, equal elements, not-a-number, along any axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

ROWS = np.array(
    [
        [1, 2, 3, 4, 5, 6, 7],
        [7, 6, 5, 4, 3, 2, 1],
        [2, 2, 1, 3, 3, 2, 3],
        [0, np.nan, -np.inf, np.inf, np.nan, 1, 0],
    ],
    np.float32,
)


@pytest.mark.parametrize("largest", [0, 1])
def test_the_first_of_every_order(largest: int, tmp_path: Path) -> None:
    nodes = [
        node("TopK", "x three", "a i", axis=1, largest=largest),
        node("TopK", "x two", "b l", axis=0, largest=largest),
        node("TopK", "x seven", "c j", axis=1, largest=largest),
        node("TopK", "x one", "d k", axis=1, largest=largest),
    ]
    counts = {name: np.array([count]) for name, count in (("one", 1), ("two", 2), ("three", 3), ("seven", 7))}
    types = dict.fromkeys("ijkl", onnx.TensorProto.INT64)
    proto = onnx_model(nodes, {"x": ROWS.shape}, list("abcdijkl"), counts, types=types)
    onnx.save(proto, tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=ROWS)
    target = load_target("host")
    compiled = compile_model(tmp_path / "m.onnx", CompileOptions(), target)
    write(compiled, tmp_path / "c")
    report = run_model(compiled, target, RunOptions(inputs=tmp_path / "x.npz"), tmp_path / "c")
    assert report.run is not None
    assert report.run.match, report.run
