"""Layers with one result a pixel or row on simulated cores: windows over borders, runs of any length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_layers import Layer, Network, check, check_network, kernels
from onnx import helper

LAYERS = (
    Layer("point", (1, 24, 7, 9), (1, 24, 1, 1), x_zero=3),
    Layer("same", (1, 12, 9, 11), (1, 12, 3, 3), x_zero=-7, attributes={"pads": [1, 1, 1, 1]}),
    Layer("phase", (1, 12, 8, 8), (1, 12, 2, 2), x_zero=-128, attributes={"pads": [0, 1, 1, 0]}),
    Layer("odd", (1, 5, 7, 10), (1, 5, 3, 3), x_zero=11, attributes={"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    Layer("dilated", (1, 7, 9, 13), (1, 7, 3, 2), x_zero=5, attributes={"pads": [2, 3, 2, 0], "dilations": [2, 3]}),
    Layer("narrow", (1, 17, 6, 3), (1, 17, 3, 3), x_zero=-20, attributes={"pads": [1, 1, 1, 1]}),
    Layer("line", (1, 33, 21), (1, 33, 5), x_zero=9, attributes={"pads": [2, 2], "strides": [2]}),
    Layer("inside", (1, 19, 6, 12), (1, 19, 2, 3), weights="-127"),
    Layer("rows", (13, 37), (37, 1), x_zero=4),
    Layer("row", (1, 481), (481, 1), x_zero=-3),
)
UNSIGNED = (
    Layer("u_same", (1, 6, 9, 11), (1, 6, 3, 3), x_zero=-7, unsigned=True, attributes={"pads": [1, 1, 1, 1]}),
    Layer("u_rows", (7, 45), (45, 1), x_zero=4, unsigned=True),
)


@pytest.mark.parametrize(("board", "core"), [("qemu_mps2_an386", "Dsp"), ("qemu_mps3_an547", "Mve")])
def test_one_result(board: str, core: str, tmp_path: Path) -> None:
    taken = kernels(check((*LAYERS, *UNSIGNED), board, tmp_path, ("random", "low", "high")))
    wanted = {layer.name: f"{'Conv' if len(layer.w) > 2 else 'Dense'}One{core}" for layer in LAYERS}
    assert {layer.name: taken[layer.name] for layer in LAYERS} == wanted
    if core == "Dsp":
        assert (taken["u_same"], taken["u_rows"]) == ("ConvOneDsp", "DenseOneDsp")


TRANSPOSED: dict[str, tuple[tuple[int, ...], int, tuple[int, ...], dict[str, Any]]] = {
    "doubled": ((1, 8, 7, 9), 1, (4, 4), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "odd": ((1, 5, 4, 3), 1, (3, 3), {"pads": [0, 1, 1, 0], "strides": [2, 3], "output_padding": [1, 0]}),
    "line": ((1, 6, 11), 1, (16,), {"strides": [8]}),
    "apart": ((1, 6, 5, 6), 3, (3, 2), {"strides": [4, 2], "group": 3}),
}
"""Operands, groups of one result each, kernels and attributes."""


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547"])
def test_one_result_of_transposed_floats(board: str, tmp_path: Path) -> None:
    network = Network(np.random.default_rng(4))
    for name, (shape, groups, kernel, attributes) in TRANSPOSED.items():
        network.inputs[f"{name}_x"], network.outputs[f"{name}_y"] = (shape, np.float32), np.float32
        weights = network.generator.standard_normal((shape[1], 1, *kernel)).astype(np.float32)
        bias = network.generator.standard_normal(groups).astype(np.float32)
        operands = [f"{name}_x", network.constant(f"{name}_w", weights), network.constant(f"{name}_b", bias)]
        network.nodes.append(helper.make_node("ConvTranspose", operands, [f"{name}_y"], name, **attributes))
    taken = kernels(check_network(network, board, tmp_path))
    assert {taken[name] for name in TRANSPOSED} == {"TransposedFpu"}
