"""Depthwise layers whose channels are laid apart, on a core with vectors: any window, both widths of codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from board_layers import (
    DEPTHWISE,
    EXTREMES,
    ODD_DEPTHWISE,
    Layer,
    Network,
    board_or_skip,
    check,
    check_network,
    kernels,
)
from tilewright.cli import main

BOARD = "qemu_mps3_an547"
KERNEL = "DepthwiseLinesMve"
LINES = (
    Layer("causal_line", (1, 15, 16), (15, 1, 3), x_zero=-7, attributes={"pads": [2, 0], "group": 15}),
    Layer("causal", (1, 7, 37), (7, 1, 9), x_zero=9, attributes={"pads": [16, 0], "dilations": [2], "group": 7}),
    Layer("steps", (1, 5, 9, 14), (5, 1, 5, 3), attributes={"pads": [2, 1, 2, 1], "strides": [2, 2], "group": 5}),
    Layer("unread", (1, 4, 11, 13), (4, 1, 2, 3), attributes={"pads": [1, 1, 0, 0], "strides": [4, 3], "group": 4}),
    Layer("wide", (1, 3, 4, 19), (3, 1, 2, 7), attributes={"pads": [0, 3, 1, 3], "strides": [1, 3], "group": 3}),
)  # fmt: skip


def test_lines_of_eight_bits(tmp_path: Path) -> None:
    taken = kernels(check([*LINES, *DEPTHWISE, *ODD_DEPTHWISE], BOARD, tmp_path, EXTREMES, first=(KERNEL,)))
    assert {taken[layer.name] for layer in LINES} == {KERNEL}


def test_lines_of_weights_of_nine_bits(tmp_path: Path) -> None:
    layers = [replace(layer, name=f"{layer.name}_{zero}", w_zero=zero) for layer in LINES for zero in (-128, 11, 127)]
    taken = kernels(check(layers, BOARD, tmp_path, EXTREMES, first=(KERNEL,)))
    assert {taken[layer.name] for layer in layers} == {KERNEL}


def test_planes_are_read_after_they_are_written(tmp_path: Path) -> None:
    """Drawn calls, among them one whose plane gcc knew the address of: it read four codes before all were written."""
    board_or_skip(BOARD)
    answer = tmp_path / "answer.json"
    words = ["conform", "cortex_m", "-t", BOARD, "--kernel", KERNEL, "--each", "14", "--seed", "5", "-q"]
    assert main([*words, "--json", str(answer)]) == 0
    (row,) = json.loads(answer.read_text())["rows"]
    assert row["operators"]["Conv"] >= 14


def test_lines_of_sixteen_bits(tmp_path: Path) -> None:
    network = Network(np.random.default_rng(3), opset=21)
    for layer in LINES:
        network.add_sixteen(layer)
    taken = kernels(check_network(network, BOARD, tmp_path, EXTREMES, first=(KERNEL,)))
    assert {taken[layer.name] for layer in LINES} == {KERNEL}
