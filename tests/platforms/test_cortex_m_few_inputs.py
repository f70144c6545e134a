"""Layers whose window has up to eight inputs on simulated cores: every number of inputs, windows over borders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Layer, Network, check, check_network, kernels
from onnx import helper

POINTS = tuple(
    Layer(f"points_{n}", (1, n, 5 + n % 2, 3), (7 + n, n, 1, 1), x_zero=n - 4, unsigned=n % 3 == 0) for n in range(1, 9)
)
LAYERS = (
    *POINTS,
    Layer("cloud", (1, 3, 33), (48, 3, 1), x_zero=5),
    Layer("pair", (1, 3, 2, 1), (12, 3, 1, 1), x_zero=-3, y_zero=0),
    Layer("strided", (1, 3, 9, 7), (6, 3, 1, 1), x_zero=9, attributes={"strides": [2, 3]}),
    Layer("taps", (1, 2, 6, 5), (9, 2, 2, 2), x_zero=-20, attributes={"pads": [1, 0, 0, 1]}),
    Layer("inside", (1, 1, 6, 8), (16, 1, 2, 3), x_zero=7, weights="-127"),
    Layer("line", (1, 2, 21), (5, 2, 4), x_zero=11, attributes={"pads": [3, 2], "strides": [2], "dilations": [2]}),
    Layer("dilated", (1, 1, 11, 9), (4, 1, 4, 2), x_zero=3, attributes={"pads": [3, 1, 2, 2], "dilations": [2, 3]}),
    Layer("u_taps", (1, 1, 7, 6), (8, 1, 3, 2), x_zero=-7, unsigned=True, attributes={"pads": [2, 1, 1, 0]}),
    Layer("wide", (1, 5, 4, 4), (6, 5, 1, 1), x_zero=2, w_zero=-90),
    Layer("rows", (13, 7), (7, 10), x_zero=4),
    Layer("u_rows", (2, 4), (4, 2), x_zero=4, unsigned=True),
)
FIRST = ("ConvFewDsp", "DenseFewDsp")


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547"])
def test_few_inputs(board: str, tmp_path: Path) -> None:
    taken = kernels(check(LAYERS, board, tmp_path, ("random", "low", "high"), first=FIRST))
    assert {layer.name: taken[layer.name] for layer in LAYERS} == {
        layer.name: FIRST[len(layer.w) == 2] for layer in LAYERS
    }


def test_they_are_the_cheaper_ones(tmp_path: Path) -> None:
    layers = (*POINTS[1:], Layer("rows", (16, 3), (3, 24), x_zero=4), Layer("single", (1, 4), (4, 24)))
    taken = kernels(check(layers, "qemu_mps2_an386", tmp_path))
    wanted = {layer.name: "ConvFewDsp" for layer in POINTS[1:]} | {"rows": "DenseFewDsp", "single": "DenseDsp"}
    assert {name: taken[name] for name in wanted} == wanted


def test_a_store_reaches_the_second_pixel(tmp_path: Path) -> None:
    layers = [Layer(f"far_{channels}", (1, 2, 3), (channels, 2, 1)) for channels in (4095, 4096)]
    taken = kernels(check(layers, "qemu_mps2_an386", tmp_path, first=FIRST))
    assert taken["far_4095"] == "ConvFewDsp"
    assert taken["far_4096"] != "ConvFewDsp"


@pytest.mark.parametrize(("zero", "kernel"), [(0, "ConvFewDsp"), (-128, "ConvFewDsp"), (5, "ConvDsp")])
def test_codes_below_the_zero_point_are_left_out(zero: int, kernel: str, tmp_path: Path) -> None:
    network = Network(np.random.default_rng(zero + 200))
    for name, scale in {"xs": 1.0, "ws": 1.0, "ys": 60.0}.items():
        network.constant(name, np.float32(scale))
    for name, code in {"xz": 3, "wz": 0, "yz": zero}.items():
        network.constant(name, np.int8(code))
    network.constant("w", network.values(Layer("w", (), (9, 3, 1, 1))))
    network.nodes += [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["real"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["weights"]),
        helper.make_node("Conv", ["real", "weights"], ["sums"], "conv"),
        helper.make_node("Relu", ["sums"], ["positive"]),
        helper.make_node("QuantizeLinear", ["positive", "ys", "yz"], ["y"]),
    ]
    network.inputs["x"], network.outputs["y"] = ((1, 3, 5, 5), np.int8), np.int8
    assert kernels(check_network(network, "qemu_mps2_an386", tmp_path, ("random", "low", "high")))["conv"] == kernel
