"""Pools of codes on the cluster: channels in fours and not, windows that step, holes, padding, all types of codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from board_layers import Network, board_or_skip, check_network, kernels
from onnx import helper

WINDOWS: tuple[tuple[str, tuple[int, ...], bool, dict[str, Any]], ...] = (  # name, input, unsigned, ONNX attributes
    ("fours", (1, 36, 7, 5), False, {"kernel_shape": [7, 5]}),
    ("bytes", (1, 8, 6, 9), True, {"kernel_shape": [3, 2], "strides": [2, 3]}),
    ("close", (1, 4, 9, 8), False, {"kernel_shape": [2, 3]}),
    ("one", (1, 12, 3, 4), False, {"kernel_shape": [1, 1]}),
    ("odd", (1, 5, 6, 6), True, {"kernel_shape": [2, 2], "strides": [2, 2]}),
)


class Codes(NamedTuple):
    """Type, scale and zero point."""

    kind: type
    scale: float
    zero: int


def add_pool(
    network: Network, name: str, op: str, x: Codes, y: Codes, shape: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    """One pool between conversions."""
    steps, points = [], []
    for end, codes in (("x", x), ("y", y)):
        steps.append(network.constant(f"{name}_{end}s", np.float32(codes.scale)))
        points.append(network.constant(f"{name}_{end}z", codes.kind(codes.zero)))
    network.inputs[f"{name}_x"], network.outputs[f"{name}_y"] = (shape, x.kind), y.kind
    network.nodes += [
        helper.make_node("DequantizeLinear", [f"{name}_x", steps[0], points[0]], [f"{name}_r"]),
        helper.make_node(op, [f"{name}_r"], [f"{name}_m"], name, **attributes),
        helper.make_node("QuantizeLinear", [f"{name}_m", steps[1], points[1]], [f"{name}_y"]),
    ]


def pools() -> Network:
    network = Network(np.random.default_rng(5))
    for name, shape, unsigned, attributes in WINDOWS:
        kind: type = np.uint8 if unsigned else np.int8
        add_pool(network, name, "AveragePool", Codes(kind, 0.07, 9), Codes(kind, 0.031, 11), shape, attributes)
    return network


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_pools_are_bit_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check_network(pools(), board, tmp_path, ("random", "low", "high"))
    assert {kernels(done)[name] for name, *_ in WINDOWS} == {"TiledPoolI8"}


LARGEST: tuple[tuple[str, tuple[int, ...], type, dict[str, Any]], ...] = (  # name, input, codes, ONNX attributes
    ("padded", (1, 32, 9, 8), np.int8, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("few", (1, 3, 10, 9), np.uint8, {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    ("uneven", (1, 13, 8, 7), np.uint8, {"kernel_shape": [5, 4], "pads": [2, 3, 2, 0]}),
    ("halves", (1, 5, 6, 6), np.int16, {"kernel_shape": [2, 3], "strides": [2, 1]}),
    ("line", (1, 6, 31), np.uint16, {"kernel_shape": [4], "strides": [3], "pads": [1, 2]}),
    ("single", (1, 1, 7, 5), np.int16, {"kernel_shape": [7, 5]}),
)


def largest() -> Network:
    network = Network(np.random.default_rng(6))
    for name, shape, kind, attributes in LARGEST:
        add_pool(network, name, "MaxPool", Codes(kind, 0.03, 5), Codes(kind, 0.03, 5), shape, attributes)
    return network


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_largest_codes_are_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check_network(largest(), board, tmp_path, ("random", "low", "high"))
    assert {kernels(done)[name] for name, *_ in LARGEST} == {"TiledLargestCodes"}
