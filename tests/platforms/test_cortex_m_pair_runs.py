"""Pairs of codes whose shapes differ in any way, run by run, on simulated cores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from onnx import helper

KERNEL = "PairRunsDsp"
FORMS = {
    "exact_add": ("Add", (0.03598, 0.06811, 0.09547), (-76, 34, -128)),
    "near_sub": ("Sub", (0.43185, 0.01039, 0.49566), (3, 0, 1)),
    "near_mul": ("Mul", (0.00427, 0.0024, 0.00168), (3, 0, 1)),
    "odd_sub": ("Sub", (0.25, 0.5, 1.0), (3, 0, 1)),
    "odd_mul": ("Mul", (0.25, 0.5, 2.0), (-5, 9, -7)),
    "limited_add": ("Add", (0.03598, 0.06811, 0.09547), (-76, 34, -12)),
}
"""Operators with scales and zero points of both operands and the result; limits of its own where the name says so."""
LIMITS = (-3.0, 4.5)
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "row": ((1, 14, 3, 6), (1, 1, 3, 6)),
    "each": ((1, 14, 3, 1), (1, 14, 3, 6)),
    "long": ((4, 3, 13), (4, 3, 1)),
    "middle": ((3, 5, 2, 4), (5, 1, 4)),
    "both": ((3, 1, 9), (1, 5, 1)),
    "one": ((5, 23), (1,)),
    "one_of_one": ((1, 1, 1), (1, 1)),
    "constant": ((2, 7, 10), (10,)),
}


def pairs() -> Network:
    """Every form in every shape."""
    network = Network(np.random.default_rng(5))
    for form, (op, scales, zeros) in FORMS.items():
        for shape, sizes in SHAPES.items():
            n = f"{form}_{shape}"
            steps = [network.constant(f"{n}_{i}s", np.float32(v)) for i, v in enumerate(scales)]
            points = [network.constant(f"{n}_{i}z", np.int8(v)) for i, v in enumerate(zeros)]
            for i in range(2):
                if shape == "constant" and i == 1:
                    network.constant(f"{n}_{i}", network.generator.integers(-128, 128, sizes[i]).astype(np.int8))
                else:
                    network.inputs[f"{n}_{i}"] = (sizes[i], np.int8)
                network.nodes.append(
                    helper.make_node("DequantizeLinear", [f"{n}_{i}", steps[i], points[i]], [f"{n}_{i}r"])
                )
            network.nodes.append(helper.make_node(op, [f"{n}_0r", f"{n}_1r"], [f"{n}_r"], n))
            last = f"{n}_r"
            if form.startswith("limited"):
                ends = [network.constant(f"{n}_limit{limit}", np.float32(limit)) for limit in LIMITS]
                network.nodes.append(helper.make_node("Clip", [last, *ends], [last := f"{n}_l"]))
            network.nodes.append(helper.make_node("QuantizeLinear", [last, steps[2], points[2]], [f"{n}_y"]))
            network.outputs[f"{n}_y"] = np.int8
    return network


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547"])
def test_shapes_that_differ_in_any_way(board: str, tmp_path: Path) -> None:
    taken = kernels(check_network(pairs(), board, tmp_path, ("random", "low", "high"), first=(KERNEL,)))
    for form in FORMS:
        assert {taken[f"{form}_{shape}"] for shape in ("row", "each", "long", "middle", "both")} == {KERNEL}, form
