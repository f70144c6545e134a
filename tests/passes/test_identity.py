"""What computes nothing goes, views and Transposes that follow one another become one."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import Dimensions, execute, node, onnx_model, ops, random_feeds
from tilewright.frontend.load import load
from tilewright.model import Model
from tilewright.passes import identity
from tilewright.passes.driver import run

I64 = np.int64
CUBE: Dimensions = [1, 3, 4, 5]


def rewritten(proto: onnx.ModelProto) -> Model:
    """The model after the pass alone, which must compute what it did before."""
    plain = load(proto)
    model, _ = run(plain, passes=(identity,))
    feeds = random_feeds(plain)
    expected, found = execute(plain, feeds), execute(model, feeds)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
    return model


@pytest.mark.parametrize(
    "made",
    [
        node("Identity", "a", "b"),
        node("Dropout", "a", "b"),
        node("Cast", "a", "b", to=1),
        node("Reshape", "a same", "b"),
        node("Transpose", "a", "b", perm=[0, 1, 2, 3]),
        node("Pad", "a none", "b"),
        node("Slice", "a zero far", "b"),
        node("Concat", "a", "b", axis=1),
        node("Sum", "a", "b"),
        node("Expand", "a same", "b"),
        node("Tile", "a ones", "b"),
        node("MaxPool", "a", "b", kernel_shape=[1, 1]),
        node("Unsqueeze", "a nothing", "b"),
    ],
    ids=lambda made: made.op_type,
)
def test_no_ops_go(made: onnx.NodeProto) -> None:
    constants = {
        "same": np.array([1, 3, 4, 5], I64),
        "none": np.zeros(8, I64),
        "zero": np.array([0], I64),
        "far": np.array([99], I64),
        "ones": np.ones(4, I64),
        "nothing": np.zeros(0, I64),
    }
    inner = onnx_model([node("Neg", "x", "a"), made, node("Exp", "b", "y")], {"x": CUBE}, ["y"], constants)
    assert ops(rewritten(inner)) == ["Neg", "Exp"]
    renamed = onnx.NodeProto.FromString(made.SerializeToString())
    renamed.output[0] = "y"
    last = rewritten(onnx_model([node("Neg", "x", "a"), renamed], {"x": CUBE}, ["y"], constants))
    assert [(each.op, each.outputs) for each in last.nodes] == [("Neg", ("y",))]


@pytest.mark.parametrize(
    "made",
    [
        node("Slice", "x last back zero minus", "y"),
        node("Reshape", "x other", "y"),
        node("Cast", "x", "y", to=11),
        node("MaxPool", "x", "y", kernel_shape=[1, 1], strides=[2, 2]),
    ],
    ids=lambda made: made.op_type,
)
def test_what_does_something_stays(made: onnx.NodeProto) -> None:
    constants = {
        "last": np.array([-1], I64),
        "back": np.array([-99], I64),
        "zero": np.array([2], I64),
        "minus": np.array([-1], I64),
        "other": np.array([3, 20], I64),
    }
    types = {"y": onnx.TensorProto.DOUBLE} if made.op_type == "Cast" else {}
    assert ops(rewritten(onnx_model([made], {"x": CUBE}, ["y"], constants, types=types))) == [made.op_type]


def test_between_an_input_and_an_output_a_copy_stays() -> None:
    model = rewritten(onnx_model([node("Dropout", "x", "y")], {"x": CUBE}, ["y"]))
    assert ops(model) == ["Identity"]


def test_an_identity_between_two_outputs_stays_a_copy() -> None:
    model = rewritten(onnx_model([node("Neg", "x", "a"), node("Identity", "a", "y")], {"x": CUBE}, ["a", "y"]))
    assert ops(model) == ["Neg", "Identity"]


def test_transposes_become_one_or_none() -> None:
    there, back = [0, 2, 3, 1], [0, 3, 1, 2]
    nodes = [node("Neg", "x", "a"), node("Transpose", "a", "b", perm=there), node("Transpose", "b", "c", perm=back)]
    model = rewritten(onnx_model([*nodes, node("Exp", "c", "y")], {"x": CUBE}, ["y"]))
    assert ops(model) == ["Neg", "Exp"]
    nodes = [node("Transpose", "x", "b", perm=there), node("Transpose", "b", "y", perm=there)]
    model = rewritten(onnx_model(nodes, {"x": CUBE}, ["y"]))
    assert [(each.op, each.attributes["perm"]) for each in model.nodes] == [("Transpose", (0, 3, 1, 2))]
    nodes = [node("Transpose", "x", "b"), node("Transpose", "b", "y"), node("Exp", "b", "z")]
    model = rewritten(onnx_model(nodes, {"x": CUBE}, ["y", "z"]))
    assert ops(model) == ["Transpose", "Exp", "Identity"] or ops(model) == ["Transpose", "Identity", "Exp"]


def test_views_become_one_reshape() -> None:
    constants = {"a": np.array([0], I64), "s": np.array([20, 3], I64)}
    nodes = [node("Squeeze", "x a", "b"), node("Reshape", "b s", "c"), node("Flatten", "c", "d"), node("Exp", "d", "y")]
    model = rewritten(onnx_model(nodes, {"x": CUBE}, ["y"], constants))
    assert ops(model) == ["Reshape", "Exp"]
    assert model.nodes[0].inputs[0] == "x"


def test_a_tensor_that_others_read_keeps_its_readers() -> None:
    nodes = [node("Neg", "x", "a"), node("Abs", "a", "z"), node("Identity", "a", "y"), node("Exp", "a", "w")]
    model = rewritten(onnx_model(nodes, {"x": CUBE}, ["y", "z", "w"]))
    assert [(each.op, each.inputs[0]) for each in model.nodes] == [("Neg", "x"), ("Abs", "y"), ("Exp", "y")]


def test_a_view_of_a_later_output_of_a_node_without_its_first_one_stays() -> None:
    constants = {"w": np.ones((1, 9, 4), np.float32), "r": np.ones((1, 9, 3), np.float32), "s": np.array([3], I64)}
    nodes = [node("GRU", "x w r", "- h", hidden_size=3), node("Reshape", "h s", "y")]
    assert ops(rewritten(onnx_model(nodes, {"x": [5, 1, 4]}, ["y"], constants))) == ["GRU", "Reshape"]
