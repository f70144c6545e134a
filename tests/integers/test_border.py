"""Floats become codes at the network's border: halves to even, far values saturated, what is no number the lowest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main

STEP = np.float32(0.25)


def border(zero: np.integer[Any], count: int) -> onnx.ModelProto:
    """x to codes of one scale and back."""
    value = helper.make_tensor_value_info
    constants = [numpy_helper.from_array(np.asarray(STEP), "step"), numpy_helper.from_array(np.asarray(zero), "zero")]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "step", "zero"], ["codes"], "there"),
        helper.make_node("DequantizeLinear", ["codes", "step", "zero"], ["y"], "back"),
    ]
    shapes = value("x", TensorProto.FLOAT, [1, count]), value("y", TensorProto.FLOAT, [1, count])
    graph = helper.make_graph(nodes, "border", [shapes[0]], [shapes[1]], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("zero", [np.int8(-128), np.int8(3), np.uint8(0), np.uint8(200), np.int16(-7)])
def test_every_half_and_every_extreme(zero: np.integer[Any], tmp_path: Path) -> None:
    halves = (np.arange(-700, 701, dtype=np.float32) / 2) * STEP
    far = np.array([np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0, 5e6, -5e6, np.nextafter(STEP / 2, 1)], np.float32)
    x = np.concatenate([halves, far]).astype(np.float32)[None]
    limits = np.iinfo(zero.dtype)
    with np.errstate(over="ignore"):
        codes = np.clip(np.rint(x / STEP) + np.float32(zero), limits.min, limits.max)
    np.savez(tmp_path / "x.npz", x=x)
    np.savez(tmp_path / "y.npz", y=((codes - np.float32(zero)) * STEP).astype(np.float32))
    onnx.save(border(zero, x.size), tmp_path / "border.onnx")
    asked = ["run", str(tmp_path / "border.onnx"), "-t", "host", "--inputs", str(tmp_path / "x.npz")]
    assert main([*asked, "--expect", str(tmp_path / "y.npz"), "-q"]) == 0
