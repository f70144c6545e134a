"""Element by element on the cluster: codes and a constant row of them, functions of one code as tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, board_or_skip, check_network, kernels
from onnx import helper

ROWS: tuple[tuple[str, str, tuple[int, ...], bool, type], ...] = (  # name, operator, shape, row is first, codes
    ("bias", "Add", (1, 9, 40), False, np.int8),
    ("odd", "Add", (1, 3, 7, 13), True, np.uint8),
    ("from", "Sub", (5, 30), True, np.int8),
    ("gain", "Mul", (1, 11, 9), False, np.int8),
)
TABLES: tuple[tuple[str, str, tuple[int, ...], type, type], ...] = (  # name, operator, shape, codes of both
    ("plain", "Sigmoid", (1, 7, 31), np.int8, np.int8),
    ("bytes", "Tanh", (3, 50), np.uint8, np.int8),
    ("whole", "HardSwish", (1, 4, 4, 16), np.int8, np.uint8),
)


def elements() -> Network:
    network = Network(np.random.default_rng(13))

    def codes(name: str, shape: tuple[int, ...], kind: type) -> None:
        scale, zero = (network.constant(f"{name}_{k}", v) for k, v in (("s", np.float32(0.043)), ("z", kind(6))))
        network.inputs[f"{name}_x"] = (shape, kind)
        network.nodes.append(helper.make_node("DequantizeLinear", [f"{name}_x", scale, zero], [f"{name}_r"]))

    def results(name: str, scale: float, kind: type) -> None:
        numbers = (("ys", np.float32(scale)), ("yz", kind(11)))
        ys, yz = (network.constant(f"{name}_{which}", value) for which, value in numbers)
        network.outputs[f"{name}_y"] = kind
        network.nodes.append(helper.make_node("QuantizeLinear", [f"{name}_m", ys, yz], [f"{name}_y"]))

    for name, op, shape, first, kind in ROWS:
        codes(name, shape, kind)
        row = network.constant(f"{name}_row", np.random.default_rng(3).integers(-90, 90, shape[-1]).astype(np.int8))
        scale, zero = (network.constant(f"{name}_w{k}", v) for k, v in (("s", np.float32(0.021)), ("z", np.int8(0))))
        network.nodes.append(helper.make_node("DequantizeLinear", [row, scale, zero], [f"{name}_w"]))
        both = [f"{name}_w", f"{name}_r"] if first else [f"{name}_r", f"{name}_w"]
        network.nodes.append(helper.make_node(op, both, [f"{name}_m"], name))
        results(name, 0.057, kind)
    for name, op, shape, kind, result in TABLES:
        codes(name, shape, kind)
        network.nodes.append(helper.make_node(op, [f"{name}_r"], [f"{name}_m"], name))
        results(name, 0.031, result)
    return network


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_elements_are_bit_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check_network(elements(), board, tmp_path, ("random", "low", "high"))
    assert {kernels(done)[name] for name, *_ in ROWS} == {"TiledPairVectorI8"}
    assert {kernels(done)[name] for name, *_ in TABLES} == {"TiledTableI8"}
