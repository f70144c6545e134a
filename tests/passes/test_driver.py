"""The driver: to a fixed point, the same every time, fast, with a report, and no pass may break the model."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.load import load
from tilewright.model import Model, Node
from tilewright.passes import activation, identity
from tilewright.passes.driver import PASSES, PassReport, run


def network(blocks: int) -> onnx.ModelProto:
    """Blocks of Conv, BatchNormalization, Mul, Relu, Identity and Transposes that cancel."""
    generator = np.random.default_rng(0)
    constants = {"w": generator.standard_normal((4, 4, 1, 1)).astype(np.float32), "k": np.float32(0.5)}
    constants.update({name: np.abs(generator.standard_normal(4)).astype(np.float32) for name in "stmv"})
    nodes = []
    for i in range(blocks):
        nodes += [
            node("Conv", f"x{i} w", f"a{i}"),
            node("BatchNormalization", f"a{i} s t m v", f"b{i}"),
            node("Mul", f"b{i} k", f"c{i}"),
            node("Relu", f"c{i}", f"d{i}"),
            node("Identity", f"d{i}", f"e{i}"),
            node("Transpose", f"e{i}", f"f{i}", perm=[0, 2, 3, 1]),
            node("Transpose", f"f{i}", f"x{i + 1}", perm=[0, 3, 1, 2]),
        ]
    return onnx_model(nodes, {"x0": [1, 4, 5, 5]}, [f"x{blocks}"], constants)


def test_a_network_is_rewritten_to_a_fixed_point_and_reported() -> None:
    plain = load(network(3))
    model, reports = run(plain)
    assert [each.op for each in model.nodes] == ["Conv"] * 3
    by_name = {report.name: report for report in reports}
    assert list(by_name) == [each.name for each in PASSES]
    assert by_name["activation"] == PassReport("activation", 3 * 400, True)
    assert by_name["pad"] == PassReport("pad", 0, False)
    again, reports = run(model)
    assert again is model
    assert not any(report.changed for report in reports)


def test_the_same_model_gives_the_same_model() -> None:
    models = [run(load(network(4)))[0] for _ in range(2)]
    assert models[0].nodes == models[1].nodes
    assert list(models[0].tensors) == list(models[1].tensors)
    for name, array in models[0].constants.items():
        np.testing.assert_array_equal(array, models[1].constants[name])


def test_a_thousand_nodes_take_little_time() -> None:
    plain = load(network(150))
    before = time.process_time()
    model, _ = run(plain)
    assert time.process_time() - before < 5  # measured 0.2 s; the margin is for a busy machine
    assert len(model.nodes) == 150


def test_passes_can_be_left_out() -> None:
    plain = load(network(1))
    model, reports = run(plain, disabled=("activation", "batch_norm"))
    assert {"BatchNormalization", "Relu"} <= {each.op for each in model.nodes}
    assert not any(report.changed for report in reports if report.name in ("activation", "batch_norm"))
    with pytest.raises(UsageError) as caught:
        run(plain, disabled=("activations",))
    assert str(caught.value) == "there is no pass 'activations'; did you mean 'activation'?"


class Wrong:
    """A pass that forgets the last node."""

    name = "wrong"

    def apply(self, model: Model) -> Model:
        return replace(model, nodes=model.nodes[:-1])


def test_a_pass_that_breaks_the_model_is_named() -> None:
    with pytest.raises(
        TilewrightError, match="the pass 'wrong' made an invalid model: output 'x1' is written by no node"
    ):
        run(load(network(1)), passes=(identity, Wrong(), activation))


def test_what_becomes_constant_is_computed() -> None:
    nodes = [node("Dropout", "w", "a"), node("Mul", "a k", "b"), node("Add", "x b", "y")]
    plain = load(onnx_model(nodes, {"x": [3]}, ["y"], {"w": np.ones(3, np.float32), "k": np.float32(3)}))
    assert [each.op for each in plain.nodes] == ["Add"]
    tensors = {**plain.tensors, "n": replace(plain.tensors["b"], name="n")}
    late = plain.replace(
        nodes=(Node("neg", "Neg", ("b",), ("n",)), Node("add", "Add", ("x", "n"), ("y",))), tensors=tensors
    )
    model, _ = run(late)
    assert [each.op for each in model.nodes] == ["Add"]
    np.testing.assert_array_equal(model.constants["n"], [-3, -3, -3])
