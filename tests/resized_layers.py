"""Images of codes that a linear Resize scales, side by side in one network."""

from __future__ import annotations

from typing import Any

import numpy as np
from board_layers import Network
from onnx import helper

Image = tuple[tuple[int, ...], list[float], str, type, tuple[float, float]]
"""Shape, factors, meaning of coordinates, kind of codes, scales of image and result."""


def images(drawn: dict[str, Image]) -> Network:
    """Every image between its codes."""
    network = Network(np.random.default_rng(11))
    for name, (shape, scales, mode, kind, steps) in drawn.items():
        names: list[Any] = [network.constant(f"{name}_{i}", np.float32(step)) for i, step in enumerate(steps)]
        zeros = [network.constant(f"{name}_{i}z", kind(zero)) for i, zero in enumerate((9, 3))]
        network.constant(f"{name}_scales", np.array(scales, np.float32))
        network.inputs[f"{name}_x"] = (shape, kind)
        network.outputs[f"{name}_y"] = kind
        network.nodes += [
            helper.make_node("DequantizeLinear", [f"{name}_x", names[0], zeros[0]], [f"{name}_r"]),
            helper.make_node(
                "Resize", [f"{name}_r", "", f"{name}_scales"], [f"{name}_l"], name, mode="linear",
                coordinate_transformation_mode=mode,
            ),
            helper.make_node("QuantizeLinear", [f"{name}_l", names[1], zeros[1]], [f"{name}_y"]),
        ]  # fmt: skip
    return network
