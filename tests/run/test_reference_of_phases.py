"""Phases of a transposed convolution are held against their part of the result, which is all that the file has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from graphs import node, onnx_model
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.run.reference import parts_of
from tilewright.target import load_target


def test_a_phase_is_every_second_result(tmp_path: Path) -> None:
    layer = node("ConvTranspose", "x w", "y", "up", strides=[2, 1], pads=[1, 0, 0, 0])
    weights = np.random.default_rng(4).standard_normal((3, 2, 3, 2)).astype(np.float32)
    onnx.save(onnx_model([layer], {"x": [1, 3, 4, 5]}, ["y"], {"w": weights}), tmp_path / "up.onnx")
    plan = compile_model(tmp_path / "up.onnx", CompileOptions(allocator="greedy"), load_target("host")).plan
    whole = np.arange(1 * 2 * 8 * 6, dtype=np.float32).reshape(1, 2, 8, 6)
    parts = parts_of(plan, {"y": whole})
    assert list(parts) == ["y/phase0", "y/phase1"]
    for first, part in enumerate(parts.values()):
        np.testing.assert_array_equal(part, whole[:, :, first::2])
    assert parts_of(plan, {}) == {}
    small = CompileOptions(allocator="greedy", optimize="size")
    plan = compile_model(tmp_path / "up.onnx", small, load_target("host")).plan
    assert [one.call.node.op for one in plan.instructions] == ["ConvTranspose"], "phases lie beside their result"
