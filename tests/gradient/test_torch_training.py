"""Training as torch does it: the losses of twenty steps in C against those of torch's own gradients and optimisers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.model import Array

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

STEPS, BATCH, RATE = 20, 2, 0.02
SHAPES = {"w0": (8, 1, 3, 3), "w1": (8, 1, 3, 3), "w2": (8, 8, 1, 1), "w3": (12, 8, 3, 3), "w4": (5, 12)}


def parameters() -> dict[str, Array]:
    """Weights in the order of the layers, each with what is added behind it."""
    draw = np.random.default_rng(9)
    drawn: dict[str, Array] = {}
    for name, shape in SHAPES.items():
        drawn[name] = (draw.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)
        drawn[name.replace("w", "b")] = (draw.standard_normal(shape[0]) / 10).astype(np.float32)
    return drawn


def network() -> onnx.ModelProto:
    """A convolution, a depthwise and a pointwise one with a shortcut around both, a strided one, and a dense layer."""
    nodes = [
        node("Conv", "x w0 b0", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 w1 b1", "c1", pads=[1] * 4, group=8), node("Relu", "c1", "r1"),
        node("Conv", "r1 w2 b2", "c2"), node("Add", "c2 r0", "s"), node("Relu", "s", "r2"),
        node("Conv", "r2 w3 b3", "c3", pads=[1] * 4, strides=[2, 2]), node("Relu", "c3", "r3"),
        node("GlobalAveragePool", "r3", "p"), node("Flatten", "p", "f"), node("Gemm", "f w4 b4", "y", transB=1),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (BATCH, 1, 8, 8)}, ["y"], parameters())


def scores(p: dict[str, Any], x: Any) -> Any:
    """The same network in torch."""
    convolve = torch.nn.functional.conv2d
    first = convolve(x, p["w0"], p["b0"], padding=1).relu()
    block = convolve(convolve(first, p["w1"], p["b1"], padding=1, groups=8).relu(), p["w2"], p["b2"])
    last = convolve((block + first).relu(), p["w3"], p["b3"], stride=2, padding=1).relu()
    return last.mean(dim=(2, 3)) @ p["w4"].T + p["b4"]


def optimiser(kind: str, p: dict[str, Any]) -> Any:
    if kind == "adam":
        return torch.optim.Adam(p.values(), lr=RATE)
    return torch.optim.SGD(p.values(), lr=RATE, momentum=0.9 if kind == "momentum" else 0.0)


def losses(kind: str, images: Array, labels: Array) -> list[float]:
    """Torch's losses, each before its update."""
    p = {name: torch.tensor(value, requires_grad=True) for name, value in parameters().items()}
    steps, told = optimiser(kind, p), []
    for at in range(0, len(images), BATCH):
        x, target = torch.tensor(images[at : at + BATCH]), torch.tensor(labels[at : at + BATCH], dtype=torch.int64)
        loss = torch.nn.functional.cross_entropy(scores(p, x), target)
        steps.zero_grad()
        loss.backward()
        steps.step()
        told.append(loss.item())
    return told


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adam"])
def test_twenty_steps_are_those_of_torch(kind: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(10)
    images, labels = draw.random((STEPS * BATCH, 1, 8, 8)).astype(np.float32), draw.integers(0, 5, STEPS * BATCH)
    images[np.arange(len(images)), 0, :, labels] += 1
    onnx.save(network(), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=images, target=labels.astype(np.int32))
    asked = ["--optimizer", kind, "--learning-rate", str(RATE), "--data", str(tmp_path / "data.npz")]
    out = tmp_path / "out"
    assert main(["train", str(tmp_path / "net.onnx"), "-t", "host", "-o", str(out), "-q", *asked]) == 0
    told = json.loads((out / "report.json").read_text())["training"]["losses"]
    np.testing.assert_allclose(told, losses(kind, images, labels), rtol=0, atol=1e-4)
    assert told != sorted(told)
