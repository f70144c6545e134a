"""Kernels with the vector extension on a simulated Cortex-M55: the layers of the scalar kernels, bit for bit."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from board_layers import (
    CONVS,
    DENSE,
    DEPTHWISE,
    EXTREMES,
    ODD_CONVS,
    ODD_DEPTHWISE,
    check,
    check_network,
    kernels,
    sums,
)

BOARD = "qemu_mps3_an547"


def test_convolutions_in_vectors(tmp_path: Path) -> None:
    taken = kernels(check([*CONVS, *ODD_CONVS], BOARD, tmp_path, EXTREMES, first=("ConvMve",)))
    assert {taken[layer.name] for layer in (*CONVS, *ODD_CONVS) if not layer.unsigned} == {"ConvMve"}
    assert {taken[layer.name] for layer in CONVS if layer.unsigned} == {"ConvDsp"}


def test_dense_and_depthwise_layers_in_vectors(tmp_path: Path) -> None:
    layers = [dataclasses.replace(layer, name=f"depthwise_{layer.name}") for layer in DEPTHWISE]
    taken = kernels(check([*DENSE, *layers], BOARD, tmp_path, EXTREMES, first=("DepthwiseMve", "DenseMve")))
    assert {taken[layer.name] for layer in layers if layer.name.startswith("depthwise_sixteen")} == {"DepthwiseMve"}
    assert {taken[layer.name] for layer in DENSE if not layer.unsigned} == {"DenseMve"}


def test_depthwise_layers_by_gathered_windows(tmp_path: Path) -> None:
    taken = kernels(check([*DEPTHWISE, *ODD_DEPTHWISE], BOARD, tmp_path, EXTREMES, first=("DepthwiseColumnsMve",)))
    named = {name for name, kernel in taken.items() if kernel == "DepthwiseColumnsMve"}
    assert named >= {"same", "valid", "stride", *(layer.name for layer in ODD_DEPTHWISE)}


def test_sums_of_codes_in_vectors(tmp_path: Path) -> None:
    assert "PairMve" in kernels(check_network(sums(), BOARD, tmp_path, EXTREMES)).values()
