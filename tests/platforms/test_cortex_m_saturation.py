"""Convolutions whose codes begin with zero, on a simulated core: one instruction saturates them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_layers import Layer, Network, check_network, kernels
from onnx import helper


def convolution(
    network: Network, name: str, kind: type, shape: tuple[int, ...], weights: tuple[int, ...], stride: int
) -> None:
    """A convolution between codes with an activation whose zero is the code zero."""
    for part, scale in {"xs": 1.0, "ws": 1.0, "ys": 60.0}.items():
        network.constant(f"{name}_{part}", np.float32(scale))
    network.constant(f"{name}_xz", kind(3))
    network.constant(f"{name}_wz", np.int8(0))
    network.constant(f"{name}_yz", kind(0))
    network.constant(f"{name}_w", network.values(Layer("w", (), weights)))
    attributes: dict[str, Any] = {
        "group": shape[1] // weights[1],
        "strides": [stride, stride],
        "pads": [2 - stride, 1, 2 - stride, 2 - stride],
    }
    network.nodes += [
        helper.make_node("DequantizeLinear", [f"{name}_{part}" for part in ("x", "xs", "xz")], [f"{name}_real"]),
        helper.make_node("DequantizeLinear", [f"{name}_{part}" for part in ("w", "ws", "wz")], [f"{name}_weights"]),
        helper.make_node("Conv", [f"{name}_real", f"{name}_weights"], [f"{name}_sums"], name, **attributes),
        helper.make_node("Relu", [f"{name}_sums"], [f"{name}_positive"]),
        helper.make_node("QuantizeLinear", [f"{name}_{part}" for part in ("positive", "ys", "yz")], [f"{name}_y"]),
    ]
    network.inputs[f"{name}_x"], network.outputs[f"{name}_y"] = (shape, kind), kind


WINDOW = (3, 3)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize(
    ("kernel", "shapes", "weights", "stride"),
    [
        ("DepthwiseDsp", [(1, 8, 9, 9)], (8, 1, *WINDOW), 1),
        ("DepthwiseFours", [(1, 48, 3, 32)], (48, 1, *WINDOW), 2),
        ("ConvDsp", [(1, 8, 9, 9), (1, 8, 1, 3), (1, 8, 2, 1), (1, 8, 1, 1)], (6, 8, *WINDOW), 1),
    ],
)
def test_codes_from_zero_on(
    kind: type, kernel: str, shapes: list[tuple[int, ...]], weights: tuple[int, ...], stride: int, tmp_path: Path
) -> None:
    network = Network(np.random.default_rng(31))
    for number, shape in enumerate(shapes):
        convolution(network, f"layer{number}", kind, shape, weights, stride)
    taken = kernels(check_network(network, "qemu_mps2_an386", tmp_path, ("random", "low", "high"), first=(kernel,)))
    assert {taken[f"layer{number}"] for number in range(len(shapes))} == {kernel}
    text, form = (tmp_path / "project/src/layers.c").read_text(), "unsigned" if kind is np.uint8 else "positive"
    assert kernel != "ConvDsp" or all(f"    tilewright_matrix{n}_paired_{form}(xs" in text for n in (1, 2, 3, 4))
