"""Sums and products of codes of eight and sixteen bits whose scales have no factors, on simulated cores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from onnx import helper

PAIRS: dict[str, tuple[str, tuple[type, type, type], tuple[float, float, float], tuple[int, ...], tuple[int, ...]]] = {
    "sum": ("Add", (np.int16, np.int16, np.int16), (3.1e-4, 2.7e-4, 4.3e-4), (1, 48, 61), (1, 48, 61)),
    "large": ("Add", (np.int16, np.int16, np.int16), (0.00061, 0.00043, 0.0002), (1, 5, 9, 7), (1, 5, 9, 7)),
    "unsigned": ("Sub", (np.uint16, np.uint16, np.uint16), (1.3e-4, 3.7e-4, 3.9e-4), (1, 3, 11, 13), (1, 3, 11, 13)),
    "product": ("Mul", (np.int16, np.int16, np.int16), (3.1e-4, 2.9e-4, 1.3e-4), (1, 16, 7, 9), (1, 16, 7, 9)),
    "mixed": ("Add", (np.int8, np.int16, np.int16), (0.031, 2.7e-4, 3.3e-4), (1, 6, 5, 7), (1, 6, 5, 7)),
    "narrow": ("Sub", (np.int16, np.int8, np.int8), (3.3e-4, 0.047, 0.11), (1, 8, 5, 9), (1, 8, 5, 9)),
    "eights": ("Add", (np.int8, np.int8, np.int8), (0.031, 0.047, 0.06), (1, 7, 31), (1, 7, 31)),
    "bytes": ("Mul", (np.uint8, np.uint8, np.uint8), (0.031, 0.047, 0.19), (1, 7, 31), (1, 7, 31)),
    "gain": ("Mul", (np.int16, np.int16, np.int16), (3.1e-4, 3.05e-5, 2.9e-4), (1, 19, 5, 6), (1, 19, 1, 1)),
    "rows": ("Mul", (np.int16, np.int16, np.int16), (3.1e-4, 3.05e-5, 2.9e-4), (9, 19), (19,)),
    "offset": ("Add", (np.int16, np.int16, np.int16), (3.1e-4, 2.05e-4, 4.9e-4), (1, 21, 6, 4), (1, 21, 1, 1)),
    "ends": ("Mul", (np.uint16, np.uint16, np.uint16), (1.3e-4, 1.1e-4, 1.1e-3), (1, 5, 9, 7), (1, 5, 9, 7)),
}


def pairs() -> Network:
    """Every pair, and one behind limits of its own."""
    network = Network(np.random.default_rng(23))
    for number, (name, (op, kinds, scales, *shapes)) in enumerate(PAIRS.items()):
        zeros = [0 if number % 2 else -7, 5, 0 if number % 2 else 9]
        if name == "ends":  # a product of two codes less their zero points needs 32 bits and a sign
            zeros = [-32768, -32768, -32768]
        names = []
        for i, (kind, scale, zero) in enumerate(zip(kinds, scales, zeros, strict=True)):
            middle = 0 if np.iinfo(kind).min else (np.iinfo(kind).max + 1) // 2
            network.constant(f"{name}_{i}s", np.float32(scale))
            network.constant(f"{name}_{i}z", kind(middle + zero))
            names.append([f"{name}_{i}s", f"{name}_{i}z"])
        for i in range(2):
            network.inputs[f"{name}_{i}"] = (shapes[i], kinds[i])
            network.nodes.append(helper.make_node("DequantizeLinear", [f"{name}_{i}", *names[i]], [f"{name}_{i}r"]))
        last = f"{name}_j"
        network.nodes.append(helper.make_node(op, [f"{name}_0r", f"{name}_1r"], [last], name))
        if name == "large":
            ends = [network.constant(f"{name}_limit{limit}", np.float32(limit)) for limit in (0, 5)]
            network.nodes.append(helper.make_node("Clip", [last, *ends], [f"{name}_l"]))
            last = f"{name}_l"
        network.nodes.append(helper.make_node("QuantizeLinear", [last, *names[2]], [f"{name}_y"]))
        network.outputs[f"{name}_y"] = kinds[2]
    network.opset = 21
    return network


@pytest.mark.parametrize(
    ("board", "all_of_them"),
    [("qemu_mps2_an386", {"SettledDsp", "SettledGainDsp"}), ("qemu_mps3_an547", {"FloatPairMve", "FloatGainMve"})],
)
def test_pairs_without_factors(board: str, all_of_them: set[str], tmp_path: Path) -> None:
    done = check_network(pairs(), board, tmp_path, ("random", "random", "random", "low", "high"))
    taken = {name: kernel for name, kernel in kernels(done).items() if name in PAIRS}
    assert (taken.pop("ends") in all_of_them) == (board == "qemu_mps3_an547")
    assert set(taken) == set(PAIRS) - {"ends"}
    assert set(taken.values()) - {"NearCodes", "PairCodes", "PairDsp", "PairMve", "GainDsp", "GainMve"} == all_of_them
    assert {taken[name] for name in ("sum", "large", "unsigned", "product", "mixed", "narrow", "gain")} == all_of_them
