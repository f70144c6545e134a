"""Images of codes enlarged between their pixels on a core with vectors: any number of channels, both kinds of codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from onnx import helper
from resized_layers import Image, images

BOARD = "qemu_mps3_an547"
IMAGES: dict[str, Image] = {
    "twice": ((1, 4, 5, 7), [1, 1, 2, 2], "half_pixel", np.int8, (0.05, 0.05)),
    "many": ((2, 37, 3, 4), [1, 1, 2, 2], "half_pixel", np.int8, (0.05, 0.037)),
    "odd": ((1, 7, 4, 3), [1, 1, 2, 4], "asymmetric", np.uint8, (0.05, 0.05)),
    "line": ((2, 18, 3, 5), [1, 1, 1, 2], "half_pixel", np.uint8, (0.05, 0.11)),
    "four": ((1, 16, 2, 3), [1, 1, 4, 4], "half_pixel", np.int8, (0.05, 0.05)),
}


def test_enlarged_images(tmp_path: Path) -> None:
    taken = kernels(check_network(images(IMAGES), BOARD, tmp_path, ("random", "low", "high")))
    assert {taken[name] for name in IMAGES} == {"ResizeMve"}, taken


FLOATS: dict[str, tuple[tuple[int, ...], list[float], str]] = {
    "twice": ((1, 4, 5, 7), [1, 1, 2, 2], "half_pixel"),
    "many": ((2, 37, 3, 4), [1, 1, 2, 3], "half_pixel"),
    "odd": ((1, 7, 4, 3), [1, 1, 2.5, 4], "asymmetric"),
    "one": ((3, 1, 6, 5), [1, 1, 2, 2], "align_corners"),
    "smaller": ((1, 6, 9, 8), [1, 1, 0.6, 0.7], "half_pixel"),
}


@pytest.mark.parametrize(("board", "kernel"), [("qemu_mps2_an386", "ResizeFpu"), (BOARD, "ResizeFloatMve")])
def test_images_of_floats(board: str, kernel: str, tmp_path: Path) -> None:
    network = Network(np.random.default_rng(12))
    for name, (shape, scales, mode) in FLOATS.items():
        network.constant(f"{name}_scales", np.array(scales, np.float32))
        network.inputs[f"{name}_x"] = (shape, np.float32)
        network.outputs[f"{name}_y"] = np.float32
        network.nodes.append(
            helper.make_node(
                "Resize", [f"{name}_x", "", f"{name}_scales"], [f"{name}_y"], name, mode="linear",
                coordinate_transformation_mode=mode,
            )
        )  # fmt: skip
    taken = kernels(check_network(network, board, tmp_path, first=(kernel,)))
    assert {taken[name] for name in FLOATS} == {kernel}, taken
