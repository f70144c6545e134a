"""Old forms of operators become the newest ones and mean the same: every case against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, random_feeds, reference
from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend.load import load

I64 = np.int64
CUBE = {"x": [2, 3, 4, 5]}

# operator, attributes, constants, opsets in which this form is valid
Case = tuple[str, Mapping[str, Any], Mapping[str, object], range]
CASES: list[Case] = [
    ("Squeeze", {"axes": [0]}, {}, range(9, 13)),
    ("Squeeze", {}, {"a": np.array([0], I64)}, range(13, 22)),
    ("Unsqueeze", {"axes": [0, 3]}, {}, range(9, 13)),
    ("Unsqueeze", {}, {"a": np.array([0, -1], I64)}, range(13, 22)),
    ("ReduceSum", {"axes": [1, 2], "keepdims": 0}, {}, range(9, 13)),
    ("ReduceSum", {"keepdims": 0}, {"a": np.array([1, 2], I64)}, range(13, 22)),
    ("ReduceMean", {"axes": [-1]}, {}, range(11, 18)),
    ("ReduceMean", {}, {"a": np.array([-1], I64)}, range(18, 22)),
    ("ReduceMax", {"axes": [1]}, {}, range(9, 18)),
    ("ReduceL2", {"axes": [0, 1]}, {}, range(9, 18)),
    ("ReduceSumSquare", {}, {}, range(9, 22)),
    ("Clip", {"min": -0.5, "max": 0.25}, {}, range(9, 11)),
    ("Clip", {"min": -0.5}, {}, range(9, 11)),
    ("Clip", {}, {"lo": np.float32(-0.5), "hi": np.float32(0.25)}, range(11, 22)),
    ("Pad", {"pads": [0, 0, 1, 2, 0, 0, 3, 4], "value": 1.5}, {}, range(9, 11)),
    ("Pad", {"pads": [0, 0, 1, 2, 0, 0, 3, 2], "mode": "reflect"}, {}, range(9, 11)),
    ("Pad", {}, {"p": np.array([0, 0, 1, 2, 0, 0, 3, 4], I64), "v": np.float32(1.5)}, range(11, 22)),
    ("Slice", {"starts": [1, 0], "ends": [3, -1], "axes": [2, 3]}, {}, range(9, 10)),
    ("Slice", {"starts": [0, 1], "ends": [1, 3]}, {}, range(9, 10)),
    ("Slice", {}, {"s": np.array([1], I64), "e": np.array([3], I64), "a": np.array([2], I64)}, range(10, 22)),
    ("Softmax", {}, {}, range(9, 22)),
    ("Softmax", {"axis": 2}, {}, range(9, 22)),
    ("Softmax", {"axis": 3}, {}, range(9, 22)),
    ("Softmax", {"axis": -1}, {}, range(11, 22)),
    ("LogSoftmax", {"axis": 1}, {}, range(9, 22)),
    ("Hardmax", {"axis": 1}, {}, range(9, 22)),
    ("Flatten", {"axis": 2}, {}, range(9, 22)),
    ("Upsample", {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 3.0]}, {}, range(7, 9)),
    ("Upsample", {"mode": "nearest"}, {"s": np.array([1, 1, 2, 3], np.float32)}, range(9, 10)),
    ("Upsample", {"mode": "linear"}, {"s": np.array([1, 1, 2, 2], np.float32)}, range(9, 10)),
    ("Resize", {"mode": "nearest"}, {"s": np.array([1, 1, 2, 1.5], np.float32)}, range(10, 11)),
    ("Resize", {"mode": "linear"}, {"s": np.array([1, 1, 2, 2], np.float32)}, range(10, 11)),
    ("Dropout", {"ratio": 0.5}, {}, range(9, 12)),
    ("Dropout", {}, {"r": np.float32(0.5)}, range(12, 22)),
    ("Dropout", {}, {"r": np.float32(0.5), "t": np.bool_(False)}, range(12, 22)),
    ("TopK", {"k": 2, "axis": 3}, {}, range(9, 10)),
    ("TopK", {}, {"k": np.array([2], I64)}, range(10, 22)),
    ("Split", {"axis": 3, "split": [2, 3]}, {}, range(9, 13)),
    ("Split", {"axis": 2}, {}, range(9, 18)),
    ("Split", {"axis": 3}, {"s": np.array([2, 3], I64)}, range(13, 22)),
    ("Split", {"axis": 2, "num_outputs": 2}, {}, range(18, 22)),
    ("AveragePool", {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}, {}, range(9, 22)),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 1]}, {}, range(9, 22)),
]
TWO_OUTPUTS = ("TopK", "Split")


def case_model(case: Case, opset: int) -> onnx.ModelProto:
    op, attributes, constants, _ = case
    outputs = "y z" if op in TWO_OUTPUTS else "y"
    inputs = {"x": [1, 3, 4, 5]} if op == "Squeeze" else CUBE
    made = node(op, " ".join(["x", *constants]), outputs, "n", **attributes)
    types = {"z": onnx.TensorProto.INT64} if op == "TopK" else {}
    return onnx_model([made], inputs, outputs.split(), constants, opset, types=types)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{case[3].start}" for case in CASES])
def test_every_form_means_what_onnx_runtime_computes(case: Case) -> None:
    for opset in sorted({case[3].start, case[3].stop - 1, *(v for v in (11, 13, 17) if v in case[3])}):
        proto = case_model(case, opset)
        model = load(proto)
        feeds = random_feeds(model)
        ours, theirs = execute(model, feeds), reference(proto, feeds)
        for name in theirs:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6, err_msg=f"{name} opset {opset}")


def test_batch_normalization_of_every_version_is_one_form() -> None:
    constants = {name: np.array([1.0, 0.5, 2.0], np.float32) for name in "sbmv"}
    for opset, attributes in ((9, {"momentum": 0.5}), (13, {}), (14, {"training_mode": 0}), (17, {})):
        proto = onnx_model([node("BatchNormalization", "x s b m v", "y", **attributes)], CUBE, ["y"], constants, opset)
        model = load(proto)
        assert set(model.nodes[0].attributes) <= {"epsilon"}
        feeds = random_feeds(model)
        np.testing.assert_allclose(execute(model, feeds)["y"], reference(proto, feeds)["y"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "made",
    [
        node("BatchNormalization", "x s s s s", "y", "n", training_mode=1),
        node("BatchNormalization", "x s s s s", "y mean var", "n", training_mode=1),
        node("Dropout", "x r t", "y", "n"),
    ],
)
def test_training_mode_is_refused(made: onnx.NodeProto) -> None:
    constants = {"s": np.ones(3, np.float32), "r": np.float32(0.5), "t": np.bool_(True)}
    with pytest.raises(UnsupportedNode) as caught:
        load(onnx_model([made], CUBE, ["y"], constants))
    text = f"node 'n' ({made.op_type}): it is in training mode; export the model for inference (model.eval())"
    assert str(caught.value) == text


def test_dropping_nothing_is_no_training() -> None:
    made = node("Dropout", "x r t", "y mask", "n")
    constants = {"r": np.float32(0), "t": np.bool_(True)}
    proto = onnx_model([made], CUBE, ["y", "mask"], constants, types={"mask": onnx.TensorProto.BOOL})
    model = load(proto)
    feeds = random_feeds(model)
    for name, expected in reference(proto, feeds).items():
        np.testing.assert_array_equal(execute(model, feeds)[name], expected)
    proto = onnx_model([made], CUBE | {"t": []}, ["y"], {"r": np.float32(0)}, types={"t": onnx.TensorProto.BOOL})
    with pytest.raises(UnsupportedNode, match="whether it trains is not known at compile time: 't' is computed at run"):
        load(proto)


@pytest.mark.parametrize("op", ["Dropout", "BatchNormalization"])
def test_before_opset_7_inference_is_an_attribute(op: str) -> None:
    constants = {name: np.array([1.0, 0.5, 2.0], np.float32) for name in "sbmv"} if op == "BatchNormalization" else {}
    names = " ".join(["x", *constants])
    model = load(onnx_model([node(op, names, "y", "n", is_test=1)], CUBE, ["y"], constants, 6))
    assert "is_test" not in model.nodes[0].attributes
    with pytest.raises(UnsupportedNode, match="it is in training mode"):
        load(onnx_model([node(op, names, "y", "n")], CUBE, ["y"], constants, 6))


def test_statistics_of_every_place_are_refused() -> None:
    constants = {name: np.ones((3, 4, 5), np.float32) for name in "sbmv"}
    made = node("BatchNormalization", "x s b m v", "y", "n", spatial=0)
    with pytest.raises(UnsupportedNode) as caught:
        load(onnx_model([made], CUBE, ["y"], constants, 8))
    why = "its statistics differ from place to place; export it with spatial = 1, one mean per channel"
    assert str(caught.value) == f"node 'n' (BatchNormalization): {why}"


@pytest.mark.parametrize(
    ("attributes", "shape", "laid"),
    [
        ({}, (1, 3, 4, 5), (1, 3, 4, 5)),
        ({"broadcast": 1}, (4, 5), (4, 5)),
        ({"broadcast": 1, "axis": 1}, (3, 4), (3, 4, 1)),
        ({"broadcast": 1, "axis": -3}, (3,), (3, 1, 1)),
        ({"broadcast": 1, "axis": 0}, (1, 3), (1, 3, 1, 1)),
    ],
)
def test_before_opset_7_the_second_operand_lies_along_named_axes(
    attributes: dict[str, Any], shape: tuple[int, ...], laid: tuple[int, ...]
) -> None:
    other = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    model = load(onnx_model([node("Sub", "x w", "y", "n", **attributes)], CUBE, ["y"], {"w": other}, 6))
    feeds = random_feeds(model)
    np.testing.assert_array_equal(execute(model, feeds)["y"], feeds["x"] - other.reshape(laid))


def test_an_axis_that_does_not_fit_is_refused() -> None:
    made = node("Sub", "x w", "y", "n", broadcast=1, axis=3)
    with pytest.raises(ModelError, match="2 axes do not fit behind axis 3 of 4"):
        load(onnx_model([made], CUBE, ["y"], {"w": np.ones((3, 4), np.float32)}, 6))


def test_before_opset_7_a_slope_belongs_to_a_channel() -> None:
    slope = np.array([0.5, -1.0, 2.0], np.float32)
    model = load(onnx_model([node("PRelu", "x s", "y")], CUBE, ["y"], {"s": slope}, 6))
    feeds = random_feeds(model)
    x = feeds["x"]
    np.testing.assert_array_equal(execute(model, feeds)["y"], np.where(x < 0, x * slope.reshape(3, 1, 1), x))


def test_images_were_once_stretched_by_two_attributes() -> None:
    made = node("Upsample", "x", "y", height_scale=2.0, width_scale=3.0, mode="nearest")
    model = load(onnx_model([made], CUBE, ["y"], {}, 6))
    feeds = random_feeds(model)
    np.testing.assert_array_equal(execute(model, feeds)["y"], feeds["x"].repeat(2, axis=2).repeat(3, axis=3))


def test_attributes_that_went_are_dropped() -> None:
    weights = {"w": np.ones((1, 9, 4), np.float32), "r": np.ones((1, 9, 3), np.float32)}
    old = node("GRU", "x w r", "y h", hidden_size=3, output_sequence=1)
    assert set(load(onnx_model([old], {"x": [5, 1, 4]}, ["y"], weights, 6)).nodes[0].attributes) == {"hidden_size"}
    product = onnx_model(
        [node("Gemm", "x w b", "y", broadcast=1)], {"x": [2, 3]}, ["y"],
        {"w": np.ones((3, 4), np.float32), "b": np.ones(4, np.float32)}, 6,
    )  # fmt: skip
    assert "broadcast" not in load(product).nodes[0].attributes


def test_scatter_is_scatter_elements() -> None:
    constants = {"i": np.array([[1, 0, 2]], I64), "u": np.array([[1.0, 1.1, 1.2]], np.float32)}
    proto = onnx_model([node("Scatter", "x i u", "y")], {"x": [3, 3]}, ["y"], constants, 9)
    model = load(proto)
    assert model.nodes[0].op == "ScatterElements"
    feeds = random_feeds(model)
    np.testing.assert_array_equal(execute(model, feeds)["y"], reference(proto, feeds)["y"])


@pytest.mark.parametrize(
    ("made", "opset", "why"),
    [
        (node("Softmax", "x", "y", "n", axis=4), 11, "axis 4 of a tensor with 4 dimensions"),
        (node("Softmax", "x", "y", "n", axis=-9), 11, "axis -9 of a tensor with 4 dimensions"),
    ],
)
def test_old_forms_that_make_no_sense_are_refused(made: onnx.NodeProto, opset: int, why: str) -> None:
    proto = onnx_model([made], CUBE, ["y"], {"s": np.ones(2, np.float32)}, opset)
    with pytest.raises(ModelError) as caught:
        load(proto)
    assert str(caught.value) == f"node 'n' ({made.op_type}) is invalid: {why}; check how the model was exported"
