"""Gradients in ONNX Runtime's training graphs as nodes: the formulas of their operators, and a whole small artifact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graphs import execute, node, onnx_model
from onnx import TensorProto
from tilewright.frontend.load import load
from tilewright.model import Array

RANDOM = np.random.default_rng(4)
Formula = Callable[[Array, Array], Array]
FORMULAS: dict[str, Formula] = {
    "ReluGrad": lambda dy, y: dy * (y > 0),
    "SigmoidGrad": lambda dy, y: dy * y * (1 - y),
    "TanhGrad": lambda dy, y: dy * (1 - y**2),
    "SoftmaxGrad_13": lambda dy, y: (dy - (dy * y).sum(-1, keepdims=True)) * y,
    "LogSoftmaxGrad_13": lambda dy, y: dy - np.exp(y) * dy.sum(-1, keepdims=True),
}


def draw(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("op", FORMULAS)
def test_a_gradient(op: str) -> None:
    dy, y = draw(3, 4), draw(3, 4)
    proto = onnx_model([node(op, "dy y", "dx", "n", "com.microsoft")], {"dy": (3, 4), "y": (3, 4)}, ["dx"])
    proto.opset_import.add(domain="com.microsoft", version=1)
    found = execute(load(proto), {"dy": dy, "y": y})["dx"]
    np.testing.assert_allclose(found, FORMULAS[op](dy, y), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("reset", [False, True])
def test_a_layer_of_an_artifact(reset: bool) -> None:
    """A dense layer with Relu as the training artifacts have it: gradients are added to buffers, or begin anew."""
    shapes = {"x": (2, 3), "w": (4, 3), "dy": (2, 4), "sum": (4, 3), "reset": (1,)}
    nodes = [
        node("Gemm", "x w", "h", "forward", transB=1), node("Relu", "h", "y", "bend"),
        node("ReluGrad", "dy y", "dh", "back", "com.microsoft"), node("Gemm", "dh x", "dw", "slopes", transA=1),
        node("InPlaceAccumulatorV2", "sum dw reset", "done next", "add", "com.microsoft"),
    ]  # fmt: skip
    kinds = {"reset": TensorProto.BOOL}
    proto = onnx_model(nodes, shapes, ["done", "next"], types=kinds)
    proto.opset_import.add(domain="com.microsoft", version=1)
    feeds = {name: draw(*shape) for name, shape in shapes.items()} | {"reset": np.array([reset])}
    found = execute(load(proto), feeds)
    x, w, dy = (feeds[name] for name in ("x", "w", "dy"))
    slopes = (dy * (x @ w.T > 0)).T @ x
    np.testing.assert_allclose(found["next"], slopes + (0 if reset else feeds["sum"]), rtol=1e-5, atol=1e-6)
    assert found["done"].all()
