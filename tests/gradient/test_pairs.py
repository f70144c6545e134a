"""A layer taken back together with the one before it: the same step, and what lies between both is never stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from gradient.networks import values
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.frontend.load import load
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.training import Training, TrainingWish, training
from tilewright.model import Array, Model
from tilewright.report.build import load as load_report

SIZE = (1, 3, 12, 20)


def separable() -> onnx.ModelProto:
    """A first layer with a shortcut over a residual block, then depthwise and pointwise layers in turn."""
    draw = np.random.default_rng(11)
    shapes = {"a": (8, 3, 3, 3), "b": (8, 8, 3, 3), "c": (8, 8, 3, 3), "d": (8, 1, 3, 3), "e": (8, 8, 1, 1),
              "f": (8, 1, 3, 3), "g": (8, 8, 1, 1), "m": (3, 8)}  # fmt: skip
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    weights |= {f"{name}0": draw.standard_normal(8).astype(np.float32) / 9 for name in "adf"}
    nodes = [
        node("Conv", "x a a0", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 b", "c1", pads=[1] * 4), node("Relu", "c1", "r1"),
        node("Conv", "r1 c", "c2", pads=[1] * 4), node("Add", "c2 r0", "s2"), node("Relu", "s2", "r2"),
        node("AveragePool", "r2", "h", kernel_shape=[1, 2], strides=[1, 2]),
        node("Conv", "h d d0", "c3", pads=[1] * 4, group=8), node("Relu", "c3", "r3"),
        node("Conv", "r3 e", "c4"), node("Relu", "c4", "r4"),
        node("Conv", "r4 f f0", "c5", pads=[1] * 4, group=8), node("Relu", "c5", "r5"),
        node("Conv", "r5 g", "c6"), node("Relu", "c6", "r6"),
        node("GlobalAveragePool", "r6", "p"), node("Flatten", "p", "q"), node("Gemm", "q m", "y", transB=1),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": SIZE}, ["y"], weights)


def made(work: float, kind: str = "sgd", accumulate: int = 1) -> Training:
    wish = TrainingWish(optimiser=Optimiser(kind, 0.1, accumulate=accumulate), work=work)
    return training(load(separable(), name="net"), wish)


def after(model: Model) -> dict[str, Array]:
    """The loss and every next value of one step."""
    draw = np.random.default_rng(7)
    given: dict[str, Array] = {one.past: one.initial + 0.0 for one in model.states if one.initial is not None}
    given |= {"x": draw.standard_normal(SIZE).astype(np.float32), "target": np.array([1], np.int32)}
    known = values(Network(model), given)
    return {name: known[name] for name in model.outputs}


@pytest.mark.parametrize(("kind", "accumulate"), [("sgd", 1), ("momentum", 1), ("adam", 1), ("sgd", 3)])
def test_a_step_with_pairs_is_the_step_of_ordinary_nodes(kind: str, accumulate: int) -> None:
    lean = made(2.0, kind, accumulate)
    pairs = [each for each in lean.step.nodes if each.op == "DescentPair"]
    assert len(pairs) == 3
    assert [len(each.outputs) for each in pairs] == [4, 4, 3]
    assert pairs[-1].inputs[4]
    assert not [each for each in lean.plain.nodes if each.domain]
    expected, found = after(made(1.0, kind, accumulate).plain), after(lean.step)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=2e-5, atol=2e-6, err_msg=name)


def test_what_lies_between_is_stored_nowhere() -> None:
    step = made(2.0).step
    late = next(at for at, each in enumerate(step.nodes) if each.op == "DescentPair")
    between = {name for each in step.nodes[late:] for name in (*each.inputs, *each.outputs)}
    assert not [name for name in between if name.startswith(("r5", "c5"))]


def test_a_pair_and_results_over_their_operands_learn_inside_of_fences(tmp_path: Path) -> None:
    onnx.save(separable(), tmp_path / "net.onnx")

    def trained(*more: str) -> tuple[float, int, set[str]]:
        words = ["train", str(tmp_path / "net.onnx"), "-t", "host", "-o", str(tmp_path / "out"), "-q", "--force"]
        assert main([*words, *more]) == 0
        report = load_report(tmp_path / "out")
        assert report.training is not None
        made = report.training
        return made.work, made.step_bytes, {layer.kernel for layer in report.networks[0].layers}

    work, by_default, _ = trained()
    more, for_size, _ = trained("--optimize", "size")
    _, small, kernels = trained("--work", "2", "--run", "2")
    assert work == 1 < more
    assert small <= for_size < by_default
    assert small < 0.8 * by_default
    assert {"DescentPair", "ConvRowsF32", "DepthwiseCopiedF32"} <= kernels
