"""Normalised rows of floats have NumPy's very bits, whatever the width."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

WIDTHS = (5, 8, 64, 101, 128)


@pytest.mark.parametrize(
    ("board", "rows", "kernel"),
    [("host", 9, "RowNormF32"), ("qemu_pulp", 9, "TiledRootF32"), ("qemu_pulp", 3, "TiledRootF32")],
)
def test_rows_have_the_bits_of_numpy(tmp_path: Path, board: str, rows: int, kernel: str) -> None:
    """On a cluster, fewer rows than cores are shared by elements."""
    board_or_skip(board)
    draw = np.random.default_rng(3)
    scales: dict[str, object] = {f"s{width}": draw.normal(1, 0.2, width).astype(np.float32) for width in WIDTHS}
    nodes = [node("RMSNormalization", f"x{w} s{w}", f"y{w}", f"norm{w}", axis=-1, epsilon=1e-5) for w in WIDTHS]
    model = onnx_model(nodes, {f"x{w}": (rows, w) for w in WIDTHS}, [f"y{w}" for w in WIDTHS], scales, opset=23)
    onnx.save(model, tmp_path / "norms.onnx")
    target = load_target(board)
    compiled = compile_model(tmp_path / "norms.onnx", CompileOptions(), target)
    assert {layer.kernel for layer in compiled.report.layers} == {kernel}
    write(compiled, tmp_path)
    report = run_model(compiled, target, RunOptions(), tmp_path)
    assert report.run is not None
    assert report.run.max_abs_error == pytest.approx(0, abs=0)
