"""A ConvTranspose of stride 1 is a Conv; one that spreads its input, or cuts more than a Conv can, is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model, ops, rewritten

GENERATOR = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("weights", "attributes", "op"),
    [
        ((4, 3, 3, 2), {}, "Conv"), ((4, 1, 3, 3), {"group": 4, "dilations": [2, 1], "pads": [4, 1, 4, 1]}, "Conv"),
        ((4, 3, 2, 3), {"group": 2, "pads": [1, 0, 0, 2]}, "Conv"), ((4, 3, 1, 5), {"auto_pad": "SAME_UPPER"}, "Conv"),
        ((4, 3, 3, 3), {"strides": [1, 2]}, "ConvTranspose"), ((4, 3, 2, 2), {"pads": [2, 0, 0, 0]}, "ConvTranspose"),
    ],
    ids=["plain", "depthwise and dilated", "groups", "same", "spread", "cut"],
)  # fmt: skip
def test_taps_turned_round(weights: tuple[int, ...], attributes: dict[str, Any], op: str) -> None:
    constants = {"w": GENERATOR.standard_normal(weights).astype(np.float32)}
    model = rewritten(
        onnx_model([node("ConvTranspose", "x w", "y", **attributes)], {"x": [1, 4, 5, 6]}, ["y"], constants)
    )
    assert ops(model) == [op]
