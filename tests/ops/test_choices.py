"""What docs/conformance.md says that we do where implementations differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model, reference
from in_c import Trial, hold

# Place of the grid -> which of the four elements 10 to 13 is taken. -1.5 lies at -1.5 elements: reflected at -0.5 that
# is 0.5, which rounds to 0; rounded first it would be -2, reflected 1.
TIES = {-1.5: 10, 1.5: 12, 0.0: 12, -0.5: 10, 2.0: 12, -2.0: 12}


def test_a_grid_sample_is_reflected_first_and_rounded_then(tmp_path: Path) -> None:
    grid = np.zeros((1, 1, len(TIES), 2), np.float32)
    grid[..., 0] = list(TIES)
    x = np.arange(10, 14, dtype=np.float32).reshape(1, 1, 1, 4)
    made = node("GridSample", "x g", "y", mode="nearest", padding_mode="reflection", align_corners=0)
    proto = onnx_model([made], {"x": x.shape, "g": grid.shape}, ["y"], opset=20)
    wanted = np.array(list(TIES.values()), np.float32).reshape(1, 1, 1, -1)
    hold([Trial(proto, {"x": x, "g": grid}, {"y": wanted})], tmp_path)
    other = reference(proto, {"x": x, "g": grid})["y"]
    assert (other != wanted).any(), "ONNX Runtime reflects first now: say so in docs/conformance.md"


POOLS: list[tuple[int, int, int, int]] = [(7, 3, 1, 2), (7, 2, 2, 2), (5, 2, 3, 2), (7, 1, 3, 1), (6, 2, 3, 1)]


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_automatic_padding_of_a_pool_counts_the_dilated_window_and_is_never_negative(
    op: str, mode: str, tmp_path: Path
) -> None:
    trials = []
    for size, kernel, stride, dilation in POOLS:
        total = max(0, (-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size)
        begin = total // 2 if mode == "SAME_UPPER" else total - total // 2
        common: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride], "dilations": [dilation]}
        x = {"x": np.random.default_rng(size).standard_normal((1, 2, size)).astype(np.float32)}
        made, explicit = (
            onnx_model([node(op, "x", "y", **common, **padding)], {"x": [1, 2, size]}, ["y"], opset=19)
            for padding in ({"auto_pad": mode}, {"pads": [begin, total - begin]})
        )
        trials.append(Trial(made, x, reference(explicit, x)))
    hold(trials, tmp_path)
