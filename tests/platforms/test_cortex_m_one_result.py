"""Layers with one result a pixel or row on simulated cores: windows over borders, runs of any length."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_layers import Layer, check, kernels

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
