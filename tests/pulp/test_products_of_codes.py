"""Products of two tensors of codes on the cluster: rows and columns in fours and not, few or many, with zero points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, board_or_skip, check_network, kernels
from onnx import helper

PRODUCTS: tuple[tuple[str, tuple[int, ...], tuple[int, ...], type, type, int, int], ...] = (
    # name, shapes of both, their codes, their zero points
    ("heads", (1, 3, 20, 16), (1, 3, 16, 24), np.int8, np.int8, 7, -5),
    ("odd", (1, 2, 13, 12), (1, 2, 12, 11), np.uint8, np.int8, 130, 3),
    ("few", (2, 3, 8), (2, 8, 3), np.int8, np.uint8, -128, 120),
    ("even", (9, 32), (32, 8), np.uint8, np.uint8, 0, 128),
    ("long", (1, 7, 1024), (1, 1024, 6), np.int8, np.int8, 0, 2),
    ("plain", (2, 9, 16), (2, 16, 13), np.int8, np.int8, 0, 0),
    ("begun", (3, 5, 16), (3, 16, 9), np.int8, np.int8, 11, 0),
    ("rows", (1, 17, 16), (1, 16, 6), np.uint8, np.int8, 0, -3),
    ("unsigned", (2, 6, 8), (2, 8, 10), np.uint8, np.uint8, 0, 128),
    ("least", (1, 1, 4), (1, 4, 5), np.int8, np.int8, -7, 9),
    ("one", (3, 10, 8), (8, 9), np.int8, np.int8, 4, -6),
    ("one_long", (2, 7, 32), (1, 32, 10), np.uint8, np.int8, 120, 5),
)
LONGEST_HELD = 16


def products() -> Network:
    network = Network(np.random.default_rng(11))
    for name, left, right, a_kind, b_kind, a_zero, b_zero in PRODUCTS:
        numbers = (
            ("as", np.float32(0.05)), ("az", a_kind(a_zero)), ("bs", np.float32(0.03)), ("bz", b_kind(b_zero)),
            ("ys", np.float32(0.11 * left[-1] ** 0.5)), ("yz", np.int8(-9)),
        )  # fmt: skip
        at, az, bt, bz, yt, yz = (network.constant(f"{name}_{which}", value) for which, value in numbers)
        network.inputs[f"{name}_a"], network.inputs[f"{name}_b"] = (left, a_kind), (right, b_kind)
        network.outputs[f"{name}_y"] = np.int8
        network.nodes += [
            helper.make_node("DequantizeLinear", [f"{name}_a", at, az], [f"{name}_l"]),
            helper.make_node("DequantizeLinear", [f"{name}_b", bt, bz], [f"{name}_r"]),
            helper.make_node("MatMul", [f"{name}_l", f"{name}_r"], [f"{name}_m"], name),
            helper.make_node("QuantizeLinear", [f"{name}_m", yt, yz], [f"{name}_y"]),
        ]
    return network


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_products_are_bit_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check_network(products(), board, tmp_path, ("random", "low", "high"))
    for name, left, *_ in PRODUCTS:
        assert kernels(done)[name] == ("ShortProductI8" if left[-1] <= LONGEST_HELD else "TiledProductI8")
