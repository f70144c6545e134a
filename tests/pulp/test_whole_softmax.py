"""Softmax of floats on a cluster without float units: its lines are shared, whatever stands around the axis."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target


def kernels(model: Path, board: str) -> list[str]:
    done = compile_model(model, CompileOptions(), load_target(board))
    return [one.kernel.name for one in done.plan.instructions]


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 7, 33), -1), ((2, 5, 9, 1), 2), ((1, 11), 1), ((70, 260), 1)])
def test_the_cores_share_the_lines(board: str, shape: tuple[int, ...], axis: int, tmp_path: Path) -> None:
    board_or_skip(board)
    path = tmp_path / "net.onnx"
    onnx.save(onnx_model([node("Softmax", "x", "y", axis=axis)], {"x": shape}, ["y"]), path)
    assert kernels(path, board) == ["TiledWholeSoftmax"]
    assert main(["run", str(path), "-t", board, "-q"]) == 0


def test_a_line_longer_than_l1_stays_on_one_core(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(onnx_model([node("Softmax", "x", "y")], {"x": (1, 20000)}, ["y"]), path)
    assert kernels(path, "gvsoc_pulp_open") == ["WholeSoftmax"]
