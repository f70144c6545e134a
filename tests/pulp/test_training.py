"""Steps of training on the cluster: what is taken back runs over tiles on all cores, and learns what NumPy learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main


def network() -> onnx.ModelProto:
    """A residual block, a strided one of two products with one operand, groups, a depthwise layer, and channels that
    are no multiple of four."""
    draw = np.random.default_rng(6)
    shapes = {"a": (8, 3, 3, 3), "b": (8, 8, 3, 3), "c": (12, 8, 3, 3), "d": (12, 8, 1, 1), "e": (6, 6, 3, 2),
              "f": (5, 6, 1, 1), "g": (5, 1, 3, 3), "m": (3, 5)}  # fmt: skip
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    nodes = [
        node("Conv", "x a", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 b", "c1", pads=[1] * 4), node("Add", "c1 r0", "s1"), node("Relu", "s1", "r1"),
        node("Conv", "r1 c", "c2", pads=[1] * 4, strides=[2, 2]), node("Conv", "r1 d", "c3", strides=[2, 2]),
        node("Add", "c2 c3", "s2"), node("Relu", "s2", "r2"),
        node("Conv", "r2 e", "c4", group=2, pads=[1, 0, 1, 1]), node("Relu", "c4", "r4"),
        node("Conv", "r4 f", "c5"), node("Relu", "c5", "r5"),
        node("Conv", "r5 g", "c6", group=5, pads=[1] * 4), node("Relu", "c6", "r6"),
        node("GlobalAveragePool", "r6", "p"), node("Flatten", "p", "v"), node("Gemm", "v m", "y", transB=1),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (2, 3, 7, 9)}, ["y"], weights)


def trained(board: str, folder: Path, model: onnx.ModelProto, *words: str) -> list[dict[str, Any]]:
    """The layers of a step that was made twice, every loss and parameter compared with NumPy's."""
    board_or_skip(board)
    onnx.save(model, folder / "net.onnx")
    call = ["train", str(folder / "net.onnx"), "-t", board, "-o", str(folder / "out"), "-q", "--run", "2", *words]
    assert main([*call, "--learning-rate", "0.1"]) == 0
    layers: list[dict[str, Any]] = json.loads((folder / "out" / "report.json").read_text())["networks"][0]["layers"]
    return [layer for layer in layers if layer["op"] == "Descent"]


@pytest.mark.parametrize(
    ("board", "size", "optimiser"),
    [("qemu_pulp", "6K", "sgd"), ("qemu_pulp", "8K", "momentum"), ("gvsoc_pulp_open_fpu", "15K", "sgd")],
)
def test_convolutions_are_taken_back_in_tiles(board: str, size: str, optimiser: str, tmp_path: Path) -> None:
    layers = trained(board, tmp_path, network(), "--set", f"l1={size}", "--optimizer", optimiser)
    kernels = [layer["kernel"] for layer in layers]
    assert sorted(set(kernels)) == ["Descent", "TiledDescentF32"]
    assert kernels.count("Descent") == 1  # of the matrix
    tiles = [layer["tiles"] for layer in layers if layer["kernel"] == "TiledDescentF32"]
    assert max(tiles) > 3


def test_products_of_two_kinds_share_a_row(tmp_path: Path) -> None:
    """A signal of few channels, read by a layer with edges and by one without: all cores work on its only row."""
    draw = np.random.default_rng(2)
    shapes = {"a": (4, 2, 1), "b": (8, 4, 2), "c": (8, 4, 1), "m": (3, 8)}
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    nodes = [
        node("Conv", "x a", "c0"), node("Conv", "c0 b", "c1", pads=[0, 1]), node("Conv", "c0 c", "c2"),
        node("Add", "c1 c2", "s"), node("GlobalAveragePool", "s", "p"), node("Flatten", "p", "v"),
        node("Gemm", "v m", "y", transB=1),
    ]  # fmt: skip
    layers = trained("qemu_pulp", tmp_path, onnx_model(nodes, {"x": (1, 2, 18)}, ["y"], weights))
    assert [layer["kernel"] for layer in layers][1:] == ["TiledDescentF32"] * 2
