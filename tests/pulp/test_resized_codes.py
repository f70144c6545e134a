"""Images of codes scaled between their pixels on the cores of a cluster: any channels, factors and kinds of codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import board_or_skip, check_network, kernels
from resized_layers import Image, images

IMAGES: dict[str, Image] = {
    "twice": ((1, 12, 5, 7), [1, 1, 2, 2], "half_pixel", np.int8, (0.05, 0.05)),
    "batch": ((2, 5, 4, 3), [1, 1, 2, 3], "half_pixel", np.uint8, (0.05, 0.037)),
    "any": ((1, 3, 6, 11), [1, 1, 1.5, 1.7], "half_pixel", np.uint8, (0.05, 0.06)),
    "line": ((1, 7, 3, 5), [1, 1, 1, 2], "align_corners", np.int8, (0.05, 0.11)),
    "wide": ((1, 1, 2, 70), [1, 1, 2.3, 1], "asymmetric", np.int8, (0.05, 0.05)),
    "smaller": ((1, 9, 9, 8), [1, 1, 0.5, 0.35], "half_pixel", np.int8, (0.05, 0.04)),
}


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_the_cores_share_rows_of_images(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    taken = kernels(check_network(images(IMAGES), board, tmp_path, ("random", "low", "high")))
    assert {taken[name] for name in IMAGES} == {"TiledResizeI8"}, taken


@pytest.mark.parametrize(
    ("shape", "kernel"), [((1, 24, 40, 40), "TiledResizeI8"), ((1, 1, 200, 200), "ResizeLinearI8")]
)
def test_channels_are_cut_and_larger_images_stay_on_one_core(
    shape: tuple[int, ...], kernel: str, tmp_path: Path
) -> None:
    board_or_skip("gvsoc_pulp_open")
    drawn: dict[str, Image] = {"large": (shape, [1.0, 1.0, 2.0, 2.0], "half_pixel", np.int8, (0.05, 0.05))}
    taken = kernels(check_network(images(drawn), "gvsoc_pulp_open", tmp_path, ("random",)))
    assert taken["large"] == kernel
