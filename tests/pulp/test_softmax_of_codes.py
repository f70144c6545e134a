"""Softmax of codes on the cluster: shares of one and on a tie, lines whose codes lie side by side and not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, board_or_skip, check_network, kernels
from onnx import helper

LINES: tuple[tuple[str, tuple[int, ...], int, type, float, float, int], ...] = (
    # name, shape, axis, codes, scales of operand and result, zero point of the result
    ("ties", (1, 9, 512), -1, np.int8, 0.05, 1 / 256, -128),  # equal codes have a share of half a code
    ("peaks", (1, 40, 5), -1, np.int8, 1.0, 1 / 256, -128),  # the largest has a share of one, one code too many
    ("fours", (2, 3, 12), -1, np.uint8, 0.11, 1 / 256, 0),
    ("across", (1, 7, 6), 1, np.int8, 0.09, 1 / 200, -128),
    ("wide", (1, 10, 3), -1, np.uint8, 0.3, 1 / 32, 90),
)


def lines() -> Network:
    network = Network(np.random.default_rng(7))
    for name, shape, axis, kind, x_scale, y_scale, zero in LINES:
        numbers = (("xs", np.float32(x_scale)), ("xz", kind(3)), ("ys", np.float32(y_scale)), ("yz", kind(zero)))
        xs, xz, ys, yz = (network.constant(f"{name}_{which}", value) for which, value in numbers)
        network.inputs[f"{name}_x"], network.outputs[f"{name}_y"] = (shape, kind), kind
        network.nodes += [
            helper.make_node("DequantizeLinear", [f"{name}_x", xs, xz], [f"{name}_r"]),
            helper.make_node("Softmax", [f"{name}_r"], [f"{name}_m"], name, axis=axis),
            helper.make_node("QuantizeLinear", [f"{name}_m", ys, yz], [f"{name}_y"]),
        ]
    return network


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_shares_are_bit_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check_network(lines(), board, tmp_path, ("random", "low", "high"))
    assert {kernels(done)[name] for name, *_ in LINES} == {"TiledSoftmaxI8"}
