"""Kernels with the vector extension on a simulated Cortex-M55: the layers of the scalar kernels, bit for bit."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from board_layers import (
    CONVS,
    DENSE,
    DEPTHWISE,
    EXTREMES,
    ODD_CONVS,
    ODD_DEPTHWISE,
    Layer,
    check,
    check_network,
    kernels,
    sums,
)
from grouped_layers import GROUPED, GROUPS_OVER_OPERAND
from tilewright.platforms.cortex_m.kernels import matrix_i8

BOARD = "qemu_mps3_an547"
UNSIGNED = tuple(
    dataclasses.replace(layer, name=f"u8_{layer.name}", unsigned=True)
    for layer in (*CONVS, *GROUPED)
    if not layer.unsigned and layer.weights != "-127"
)


def test_convolutions_in_vectors(tmp_path: Path) -> None:
    layers = [*CONVS, *ODD_CONVS, *GROUPED, *UNSIGNED]
    taken = kernels(check(layers, BOARD, tmp_path, EXTREMES, first=("ConvMve",)))
    assert {taken[layer.name] for layer in layers} == {"ConvMve"}


def test_groups_whose_results_lie_over_their_operand(tmp_path: Path) -> None:
    done = check([GROUPS_OVER_OPERAND], BOARD, tmp_path)
    assert kernels(done)["over"] == "ConvMve"


def test_dense_and_depthwise_layers_in_vectors(tmp_path: Path) -> None:
    layers = [dataclasses.replace(layer, name=f"depthwise_{layer.name}") for layer in DEPTHWISE]
    taken = kernels(check([*DENSE, *layers], BOARD, tmp_path, EXTREMES, first=("DepthwiseMve", "DenseMve")))
    assert {taken[layer.name] for layer in layers if layer.name.startswith("depthwise_sixteen")} == {"DepthwiseMve"}
    assert {taken[layer.name] for layer in DENSE if not layer.unsigned} == {"DenseMve"}


def test_depthwise_layers_by_gathered_windows(tmp_path: Path) -> None:
    taken = kernels(check([*DEPTHWISE, *ODD_DEPTHWISE], BOARD, tmp_path, EXTREMES, first=("DepthwiseColumnsMve",)))
    named = {name for name, kernel in taken.items() if kernel == "DepthwiseColumnsMve"}
    assert named >= {"same", "valid", "stride", *(layer.name for layer in ODD_DEPTHWISE)}


def nine_bits(layers: tuple[Layer, ...], zeros: tuple[int, ...]) -> list[Layer]:
    """The layers with zero points of their weights that make these need nine bits, of either sign."""
    return [dataclasses.replace(layer, name=f"{layer.name}_{zero}", w_zero=zero) for layer in layers for zero in zeros]


def test_depthwise_layers_of_nine_bits_by_gathered_windows(tmp_path: Path) -> None:
    """Strides, dilations, narrow maps; weights of 255 and of -255, which two bytes of one sign do not reach."""
    random = tuple(layer for layer in (*DEPTHWISE, *ODD_DEPTHWISE) if layer.weights == "random")
    ends = (
        Layer("highest", (1, 18, 6, 5), (18, 1, 3, 3), weights="127", w_zero=-128, attributes={"group": 18}),
        Layer("lowest", (1, 18, 5, 6), (18, 1, 3, 3), weights="-128", w_zero=127, x_zero=4, attributes={"group": 18}),
    )
    layers = [*nine_bits(random, (9, -128, 127)), *ends]
    taken = kernels(check(layers, BOARD, tmp_path, EXTREMES, first=("DepthwiseColumnsMve",)))
    named = {name for name, kernel in taken.items() if kernel == "DepthwiseColumnsMve"}
    assert named >= {layer.name for layer in [*nine_bits(ODD_DEPTHWISE, (9, -128, 127)), *ends]}


@pytest.mark.parametrize("own", [False, True])
def test_depthwise_layers_of_any_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    if own:
        monkeypatch.setattr(matrix_i8, "is_own", lambda call: True)
    windows = (
        Layer("five", (1, 24, 6, 7), (24, 1, 5, 5), x_zero=3, attributes={"pads": [2, 2, 2, 2], "group": 24}),
        Layer("seven", (1, 16, 9, 8), (16, 1, 7, 7), weights="-127", attributes={"pads": [3, 3, 3, 3], "group": 16}),
        Layer("valid_five", (1, 17, 6, 9), (17, 1, 5, 5), weights="127", attributes={"group": 17}),
        Layer("ragged", (1, 33, 11), (33, 1, 3), attributes={"pads": [3, 3], "dilations": [3], "group": 33}),
        Layer("apart", (1, 16, 7, 9), (16, 1, 2, 3), x_zero=9,
              attributes={"pads": [2, 4, 0, 0], "dilations": [2, 2], "strides": [1, 2], "group": 16}),
        Layer("unlike", (1, 32, 4, 5), (32, 1, 3, 5), spread=600.0, attributes={"pads": [1, 2, 1, 2], "group": 32}),
    )  # fmt: skip
    taken = kernels(check(windows, BOARD, tmp_path, EXTREMES, first=("DepthwiseWindowMve",)))
    assert {taken[layer.name] for layer in windows} == {"DepthwiseWindowMve"}


def test_sums_of_codes_in_vectors(tmp_path: Path) -> None:
    assert "PairMve" in kernels(check_network(sums(), BOARD, tmp_path, EXTREMES)).values()
