"""Pairs of codes on simulated cores: every pair of a form, with and without a list, one code of every channel, rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from board_layers import Array, Network, check_network, kernels
from onnx import helper
from tilewright.model import DType, Node, Quantisation, Tensor
from tilewright.numerics import near_form
from tilewright.ops.registry import call_of

FORMS = {
    "exact_add": ("Add", (0.03598, 0.06811, 0.09547), (-76, 34, -128)),
    "near_add": ("Add", (0.00321, 0.00739, 0.0182), (3, 0, 1)),
    "near_sub": ("Sub", (0.43185, 0.01039, 0.49566), (3, 0, 1)),
    "near_mul": ("Mul", (0.00427, 0.0024, 0.00168), (3, 0, 1)),
    "even_add": ("Add", (0.25, 0.5, 2.0), (3, 0, -4)),
    "odd_sub": ("Sub", (0.25, 0.5, 1.0), (3, 0, 1)),
    "odd_mul": ("Mul", (0.25, 0.5, 2.0), (-5, 9, -7)),
    "wide_mul": ("Mul", (0.05237, 0.00391, 0.03171), (-100, -128, -120)),
}
"""Operators with scales and zero points of both operands and the result."""
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "pairs": ((1, 64, 16, 16), (1, 64, 16, 16)),
    "gains": ((1, 13, 3, 5), (1, 13, 1, 1)),
    "gained": ((1, 8, 1, 1), (1, 8, 4, 3)),
    "constant": ((1, 6, 4, 3), (6, 1, 1)),
    "rows": ((7, 19), (19,)),
    "row_first": ((1, 11), (6, 11)),
}


def second_codes(op: str, scales: Sequence[float], zeros: Sequence[int]) -> Array:
    """Sixty-four codes of the second operand, those of all listed pairs among them."""
    a, b, y = (
        Tensor(name, DType.I8, (1,), Quantisation((float(np.float32(scale)),), (zero,)))
        for name, scale, zero in zip("aby", scales, zeros, strict=True)
    )
    call = call_of(Node("pair", op, ("a", "b"), ("y",)), (a, b), (y,))
    assert call.operator is not None
    near = near_form(call.operator, call)
    listed = {pair & 255 for pair in near.listed} if near is not None else set()
    rest = [code for code in range(0, 1024, 5) if code & 255 not in listed]
    return np.array([*listed, *rest][:64]).astype(np.uint8).view(np.int8)


def pairs() -> tuple[Network, dict[str, Array]]:
    """Every form in every shape, and inputs: in `pairs` all codes of one operand meet sixty-four of the other."""
    network = Network(np.random.default_rng(5))
    feeds = {}
    every = np.arange(-128, 128).astype(np.int8)
    for form, (op, scales, zeros) in FORMS.items():
        second = second_codes(op, scales, zeros)
        for shape, sizes in SHAPES.items():
            n = f"{form}_{shape}"
            steps = [network.constant(f"{n}_{i}s", np.float32(v)) for i, v in enumerate(scales)]
            points = [network.constant(f"{n}_{i}z", np.int8(v)) for i, v in enumerate(zeros)]
            for i in range(2):
                codes = network.generator.integers(-128, 128, sizes[i]).astype(np.int8)
                if shape == "pairs":
                    codes = np.broadcast_to(every[None, :] if i == 0 else second[:, None], (64, 256)).reshape(sizes[i])
                if shape == "constant" and i == 1:
                    network.constant(f"{n}_{i}", codes)
                else:
                    network.inputs[f"{n}_{i}"], feeds[f"{n}_{i}"] = (sizes[i], np.int8), codes
                network.nodes.append(
                    helper.make_node("DequantizeLinear", [f"{n}_{i}", steps[i], points[i]], [f"{n}_{i}r"])
                )
            network.nodes.append(helper.make_node(op, [f"{n}_0r", f"{n}_1r"], [f"{n}_r"], n))
            network.nodes.append(helper.make_node("QuantizeLinear", [f"{n}_r", steps[2], points[2]], [f"{n}_y"]))
            network.outputs[f"{n}_y"] = np.int8
    return network, feeds


@pytest.mark.parametrize(("board", "core"), [("qemu_mps2_an386", "Dsp"), ("qemu_mps3_an547", "Mve")])
def test_every_pair_and_one_code_a_channel(
    board: str, core: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, feeds = pairs()
    monkeypatch.setattr(network, "feeds", lambda which: feeds)
    taken = kernels(check_network(network, board, tmp_path))
    for form in FORMS:
        of_shapes = [f"Pair{core}", *[f"Gain{core}"] * 3, *[f"Pair{core}"] * 2]
        assert [taken[f"{form}_{shape}"] for shape in SHAPES] == of_shapes, form
