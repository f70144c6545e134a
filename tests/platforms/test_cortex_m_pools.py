"""Pools of the largest code on simulated cores: windows over borders, any number of channels, lines and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from onnx import helper

POOLS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "usual": ((1, 16, 11, 13), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "odd": ((1, 7, 6, 5), {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [1, 0, 0, 2]}),
    "large": ((1, 37, 6, 6), {"kernel_shape": [5, 5], "strides": [1, 1], "pads": [2, 2, 2, 2]}),
    "ceil": ((1, 4, 8, 7), {"kernel_shape": [3, 2], "strides": [3, 2], "ceil_mode": 1}),
    "line": ((1, 9, 21), {"kernel_shape": [4], "strides": [3], "pads": [1, 2]}),
    "few": ((1, 3, 5, 5), {"kernel_shape": [2, 2], "strides": [2, 2]}),
}


def pools() -> Network:
    """Every pool on signed and unsigned codes of both widths."""
    network = Network(np.random.default_rng(7), opset=21)
    scale = network.constant("scale", np.float32(0.05))
    for name, (shape, attributes) in POOLS.items():
        for kind in (np.int8, np.uint8, np.int16, np.uint16):
            n = f"{name}_{kind.__name__}"
            zero = network.constant(f"{n}_z", kind(3))
            network.inputs[n] = (shape, kind)
            network.nodes += [
                helper.make_node("DequantizeLinear", [n, scale, zero], [f"{n}_r"]),
                helper.make_node("MaxPool", [f"{n}_r"], [f"{n}_m"], n, **attributes),
                helper.make_node("QuantizeLinear", [f"{n}_m", scale, zero], [f"{n}_y"]),
            ]
            network.outputs[f"{n}_y"] = kind
    return network


@pytest.mark.parametrize(("board", "kernel"), [("qemu_mps2_an386", "MaxPoolDsp"), ("qemu_mps3_an547", "MaxPoolMve")])
def test_the_largest_codes(board: str, kernel: str, tmp_path: Path) -> None:
    taken = kernels(check_network(pools(), board, tmp_path))
    pooled = {name: taken[name] for name in taken if name.rpartition("_")[0] in POOLS}
    few = {name for name in pooled if name.startswith("few") and name.endswith("int8")}
    assert len(pooled) == 24
    assert {pooled[name] for name in pooled.keys() - few} == {kernel}
    assert {pooled[name] for name in few} == {"MaxPoolMve" if kernel == "MaxPoolMve" else "PoolI8"}
