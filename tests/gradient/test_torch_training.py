"""Training as torch does it: the losses of twenty steps in C against those of torch's own gradients and optimisers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from board_layers import board_or_skip
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


NEW, OF_NEW, STEPS_OF_NEW, RATE_OF_NEW = 5, 8, 40, 0.005
"""Classes that were never seen, samples of a step, steps, and the rate of these."""


def body_of_old_classes(images: Array, labels: Array) -> Any:
    """Three convolutions, trained by torch to tell the digits from 0 to 4."""
    torch.manual_seed(0)
    made = [torch.nn.Conv2d(low, high, 3, padding=1, stride=s) for low, high, s in ((1, 8, 1), (8, 16, 2), (16, 32, 2))]
    body = torch.nn.Sequential(*(part for one in made for part in (one, torch.nn.ReLU())), torch.nn.Flatten())
    head = torch.nn.Linear(128, 5)
    learning = [*body.parameters(), *head.parameters()]
    for _ in range(200):
        loss = torch.nn.functional.cross_entropy(head(body(torch.tensor(images))), torch.tensor(labels))
        for parameter, gradient in zip(learning, torch.autograd.grad(loss, learning), strict=True):
            parameter.data -= 0.2 * gradient
    return body


def with_new_head(body: Any) -> onnx.ModelProto:
    """The same convolutions as ONNX, and a last layer of zeros behind them."""
    constants = {"w": np.zeros((NEW, 128), np.float32), "b": np.zeros(NEW, np.float32)}
    nodes, read = [], "x"
    for at, layer in enumerate(one for one in body if isinstance(one, torch.nn.Conv2d)):
        constants |= {f"w{at}": layer.weight.detach().numpy(), f"b{at}": layer.bias.detach().numpy()}
        nodes.append(node("Conv", f"{read} w{at} b{at}", f"c{at}", pads=[1] * 4, strides=[*layer.stride]))
        nodes.append(node("Relu", f"c{at}", f"r{at}"))
        read = f"r{at}"
    nodes += [node("Flatten", read, "f"), node("Gemm", "f w b", "y", transB=1)]
    return onnx_model(nodes, {"x": (OF_NEW, 1, 8, 8)}, ["y"], constants)


def test_five_new_classes_are_learnt_on_a_cortex_m4_as_torch_learns_them(tmp_path: Path) -> None:
    """Losses of every step and the accuracy on held-out samples; `train` holds parameters against NumPy's."""
    board_or_skip("qemu_mps2_an386")
    raw = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed").load_digits()
    images, labels = (raw.images / 16).astype(np.float32).reshape(-1, 1, 8, 8), raw.target
    body = body_of_old_classes(images[labels < NEW], labels[labels < NEW])
    images, labels = images[labels >= NEW], labels[labels >= NEW] - NEW
    taught = STEPS_OF_NEW * OF_NEW
    onnx.save(with_new_head(body), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=images[:taught], target=labels[:taught].astype(np.int32))
    asked = ["--update", "last", "--learning-rate", str(RATE_OF_NEW), "--data", str(tmp_path / "data.npz")]
    words = ["train", str(tmp_path / "net.onnx"), "-t", "qemu_mps2_an386", "-o", str(tmp_path / "out"), "-q", *asked]
    assert main(words) == 0
    told = json.loads((tmp_path / "out" / "report.json").read_text())["training"]["losses"]
    features, weights, biases = body(torch.tensor(images)).detach(), torch.zeros(NEW, 128), torch.zeros(NEW)
    session = onnxruntime.InferenceSession(str(tmp_path / "out" / "net_step.onnx"))
    ours = {"w": np.zeros((NEW, 128), np.float32), "b": np.zeros(NEW, np.float32)}
    losses = []
    for at in range(0, taught, OF_NEW):
        weights.requires_grad_(), biases.requires_grad_()
        target = torch.tensor(labels[at : at + OF_NEW])
        loss = torch.nn.functional.cross_entropy(features[at : at + OF_NEW] @ weights.T + biases, target)
        losses.append(loss.item())
        moved = torch.autograd.grad(loss, (weights, biases))
        weights, biases = (p.detach() - RATE_OF_NEW * g for p, g in zip((weights, biases), moved, strict=True))
        _, ours["w"], ours["b"] = session.run(
            None, {"x": images[at : at + OF_NEW], "target": labels[at : at + OF_NEW].astype(np.int32), **ours}
        )
    np.testing.assert_allclose(told, losses, rtol=0, atol=1e-5)
    held, right = features[taught:].numpy(), labels[taught:]
    of_torch = np.mean((held @ weights.numpy().T + biases.numpy()).argmax(1) == right)
    assert np.mean((held @ ours["w"].T + ours["b"]).argmax(1) == right) == of_torch
    assert of_torch > 0.7
