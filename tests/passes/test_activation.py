"""Relu and Clip, however written, become the limits of the node before them."""

from __future__ import annotations

from math import inf

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model, rewritten
from onnx import TensorProto
from tilewright.frontend.load import load
from tilewright.model import Clamp
from tilewright.passes.driver import run

CONSTANTS = {
    "w": np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32),
    "lo": np.float32(-0.25),
    "hi": np.float32(0.5),
    "zero": np.float32(0),
    "six": np.array([6.0], np.float32),
    "nan": np.float32(np.nan),
    "both": np.array([0.0, 1.0, 2.0, 3.0], np.float32),
}


@pytest.mark.parametrize(
    ("activation", "clamp"),
    [
        ("Relu a", Clamp(0, inf)),
        ("Clip a lo hi", Clamp(-0.25, 0.5)),
        ("Clip a - hi", Clamp(-inf, 0.5)),
        ("Clip a lo", Clamp(-0.25, inf)),
        ("Clip a hi lo", Clamp(-0.25, -0.25)),
        ("Max a zero", Clamp(0, inf)),
        ("Max zero a", Clamp(0, inf)),
        ("Min a six", Clamp(-inf, 6)),
    ],
)
@pytest.mark.parametrize("producer", ["MatMul x w", "Add x x", "Sub x w", "Mul x x", "Gemm x w"])
def test_limits_go_into_the_node_before(producer: str, activation: str, clamp: Clamp) -> None:
    (before, reads), (op, operands) = producer.split(" ", 1), activation.split(" ", 1)
    nodes = [node(before, reads, "a", "first"), node(op, operands, "y")]
    model = rewritten(onnx_model(nodes, {"x": [4, 4]}, ["y"], CONSTANTS))
    op = {"Sub": "Add"}.get(before, before)  # minus a constant
    assert [(each.name, each.op, each.outputs, each.clamp) for each in model.nodes] == [("first", op, ("y",), clamp)]


@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool"])
def test_pools_take_limits_too(pool: str) -> None:
    nodes = [node(pool, "x", "a", kernel_shape=[2, 2]), node("Relu", "a", "y")]
    model = rewritten(onnx_model(nodes, {"x": [1, 2, 4, 4]}, ["y"]))
    assert [each.clamp for each in model.nodes] == [Clamp(0, inf)]


def test_limits_reach_through_views_and_what_lies_between_gets_new_names() -> None:
    nodes = [
        node("Add", "x w", "a"),
        node("Reshape", "a flat", "b"),
        node("Unsqueeze", "b axis", "c"),
        node("Relu", "c", "y"),
    ]
    constants = {**CONSTANTS, "flat": np.array([16], np.int64), "axis": np.array([0], np.int64)}
    model = rewritten(onnx_model(nodes, {"x": [4, 4]}, ["y"], constants))
    assert [(each.op, each.clamp) for each in model.nodes] == [("Add", Clamp(0, inf)), ("Reshape", None)]
    assert not {"a", "b", "c"} & set(model.tensors)
    nodes[3] = node("Neg", "b", "z")
    kept = rewritten(onnx_model([*nodes, node("Relu", "c", "y")], {"x": [4, 4]}, ["y", "z"], constants))
    assert "Relu" in [each.op for each in kept.nodes]


def test_limits_after_limits_are_combined_in_order() -> None:
    nodes = [node("Add", "x x", "a"), node("Relu", "a", "b"), node("Min", "b six", "c"), node("Clip", "c hi", "y")]
    assert [each.clamp for each in rewritten(onnx_model(nodes, {"x": [4, 4]}, ["y"], CONSTANTS)).nodes] == [
        Clamp(0.5, 6)
    ]
    nodes = [node("Add", "x x", "a"), node("Clip", "a hi", "b"), node("Clip", "b - lo", "y")]
    model = rewritten(onnx_model(nodes, {"x": [4, 4]}, ["y"], CONSTANTS))
    assert [each.clamp for each in model.nodes] == [Clamp(-0.25, -0.25)]


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ([node("Add", "x w", "a"), node("Relu", "a", "y"), node("Neg", "a", "z")], ["y", "z"]),
        ([node("Add", "x w", "a"), node("Relu", "a", "y")], ["a", "y"]),
        ([node("Exp", "x", "a"), node("Relu", "a", "y")], ["y"]),
        ([node("Add", "x w", "a"), node("Max", "a both", "y")], ["y"]),
        ([node("Add", "x w", "a"), node("Max", "a x", "y")], ["y"]),
        ([node("Relu", "x", "y")], ["y"]),
    ],
)
def test_what_is_no_limit_or_has_other_readers_stays(nodes: list[onnx.NodeProto], outputs: list[str]) -> None:
    model = rewritten(onnx_model(nodes, {"x": [4, 4]}, outputs, CONSTANTS))
    assert [each.op for each in model.nodes] == [each.op_type for each in nodes]
    assert all(each.clamp is None for each in model.nodes)


def test_a_bound_that_is_not_a_number_stays_where_it_is() -> None:
    proto = onnx_model([node("Add", "x w", "a"), node("Max", "a nan", "y")], {"x": [4, 4]}, ["y"], CONSTANTS)
    model, _ = run(load(proto))
    assert [each.op for each in model.nodes] == ["Add", "Max"]


def test_integers_keep_their_activation() -> None:
    types = {name: TensorProto.INT32 for name in ("x", "y")}
    proto = onnx_model([node("Add", "x x", "a"), node("Relu", "a", "y")], {"x": [4]}, ["y"], types=types)
    model, _ = run(load(proto))
    assert [each.op for each in model.nodes] == ["Add", "Relu"]
