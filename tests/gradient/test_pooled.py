"""The last layer before a mean, of which no plane is stored: signs tell what a gradient needs of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from gradient.test_pairs import after
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.frontend.load import load
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.training import Training, TrainingWish, trainings
from tilewright.report.build import load as load_report

SIZE = (1, 3, 12, 20)


def separable(pool: str = "GlobalAveragePool", kernel: tuple[int, ...] = ()) -> onnx.ModelProto:
    """A first layer, then depthwise and pointwise ones in turn, and a mean over the last planes."""
    draw = np.random.default_rng(11)
    shapes = {
        "a": (8, 3, 3, 3),
        "d": (8, 1, 3, 3),
        "e": (8, 8, 1, 1),
        "f": (8, 1, 3, 3),
        "g": (10, 8, 1, 1),
        "m": (3, 10),
    }
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    weights |= {f"{name}0": draw.standard_normal(len(weights[name])).astype(np.float32) / 9 for name in "adefg"}
    nodes = [
        node("Conv", "x a a0", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 d d0", "c3", pads=[1] * 4, group=8), node("Relu", "c3", "r3"),
        node("Conv", "r3 e e0", "c4"), node("Relu", "c4", "r4"),
        node("Conv", "r4 f f0", "c5", pads=[1] * 4, group=8), node("Relu", "c5", "r5"),
        node("Conv", "r5 g g0", "c6"), node("Relu", "c6", "r6"),
        node(pool, "r6", "p", kernel_shape=kernel, strides=[12, 20]) if kernel else node(pool, "r6", "p"),
        node("Flatten", "p", "q"), node("Gemm", "q m", "y", transB=1),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": SIZE}, ["y"], weights)


def offers(model: onnx.ModelProto, kind: str = "sgd", accumulate: int = 1) -> list[Training]:
    """All steps that are planned, from the least work on."""
    wish = TrainingWish(optimiser=Optimiser(kind, 0.1, accumulate=accumulate), work=2.0)
    return list(trainings(load(model, name="net"), wish))


def pooling(steps: list[Training]) -> list[Training]:
    return [one for one in steps if any(each.op == "PooledConv" for each in one.step.nodes)]


@pytest.mark.parametrize(("kind", "accumulate"), [("sgd", 1), ("momentum", 1), ("adam", 1), ("sgd", 3)])
def test_a_step_with_signs_is_the_step_of_ordinary_nodes(kind: str, accumulate: int) -> None:
    steps = offers(separable(), kind, accumulate)
    lean = pooling(steps)
    assert lean
    expected = after(steps[0].plain)
    for one in lean:
        assert not [each for each in one.plain.nodes if each.domain]
        found = after(one.step)
        assert expected.keys() == found.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=2e-5, atol=2e-6, err_msg=name)


def test_no_plane_of_the_last_layer_is_stored() -> None:
    step = pooling(offers(separable()))[-1].step
    (made,) = (each for each in step.nodes if each.op == "PooledConv")
    (pair,) = (each for each in step.nodes if each.op == "DescentPair" and len(each.inputs) == 9)
    assert pair.inputs[8] == made.outputs[1]
    assert step.tensors[made.outputs[1]].shape == (240, 2)
    assert not [
        name for each in step.nodes for name in each.outputs if name and step.tensors[name].shape == (1, 10, 12, 20)
    ]
    assert "Sign" not in {each.op for each in step.nodes}


def test_what_is_no_mean_of_whole_planes_keeps_them() -> None:
    assert not pooling(offers(separable("MaxPool", (12, 20))))
    assert not pooling(offers(separable("AveragePool", (11, 20))))
    assert pooling(offers(separable("AveragePool", (12, 20))))


@pytest.mark.parametrize("board", ["host", "qemu_mps2_an386"])
def test_signs_are_those_of_numpy_and_onnxruntime(board: str, tmp_path: Path) -> None:
    onnx.save(separable(), tmp_path / "net.onnx")
    work = pooling(offers(separable()))[-1].work
    words = ["train", str(tmp_path / "net.onnx"), "-t", board, "-o", str(tmp_path / "out"), "-q", "--run", "3"]
    assert main([*words, "--learning-rate", "0.1", "--work", str(work)]) == 0
    kernels = {layer.kernel for layer in load_report(tmp_path / "out/report.json").networks[0].layers}
    assert {"PooledConv", "DescentSigned"} <= kernels


def test_ds_cnn_learns_in_seventy_thousand_bytes(trained: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    words = ["train", str(trained("dscnn_f32").model), "-t", "host", "-o", str(tmp_path / "out"), "-q", "--run", "2"]
    assert main([*words, "--work", "1.3"]) == 0
    told = load_report(tmp_path / "out/report.json").training
    assert told is not None
    assert told.step_bytes <= 70_000
    assert told.work <= 1.3
