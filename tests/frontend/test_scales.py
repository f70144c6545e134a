"""Scales that are no positive, finite numbers are refused with the tensor, the value and what calibration saw."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, random_feeds, reference
from tilewright.conformance.subject import load_and_pass, place
from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend.load import load
from tilewright.plan.execute import run
from tilewright.plugins import platform

MICROSOFT = "com.microsoft"


def model(
    nodes: list[onnx.NodeProto], constants: dict[str, Any], types: dict[str, int], opset: int = 21
) -> onnx.ModelProto:
    inputs = {"x": [1, 4, 6, 6]} if nodes[0].op_type == "QLinearConv" else {"x": [3, 4]}
    made = onnx_model(nodes, inputs, [nodes[-1].output[0]], constants, opset, types=types)
    made.opset_import.add(domain=MICROSOFT, version=1)
    made.opset_import.add(domain="qonnx.custom_op.general", version=1)
    return made


def pair(scale: Any, domain: str = "") -> onnx.ModelProto:
    """A tensor that is quantised and brought back, both with one scale."""
    nodes = [
        node("QuantizeLinear", "x s z", "c", "q", domain, axis=1),
        node("DequantizeLinear", "c s z", "y", "d", domain, axis=1),
    ]
    scale = np.asarray(scale, np.float32)
    return model(nodes, {"s": scale, "z": np.zeros(scale.shape, np.int8)}, {})


SAW = {
    np.inf: "calibration saw infinite values, a mask of -inf for instance; put a finite number (-10000, say) in their",
    -np.inf: "calibration saw infinite values, a mask of -inf for instance; put a finite number (-10000, say) in their",
    np.nan: "calibration saw values that are no numbers; find the layer that makes NaN from the calibration data",
    0.0: "calibration saw nothing but zeros; calibrate with data in which this tensor is not 0 throughout, or leave it",
    -0.5: "no quantiser writes a negative one; check how the model was exported",
}


@pytest.mark.parametrize("value", SAW)
@pytest.mark.parametrize("domain", ["", MICROSOFT])
def test_a_pair_is_refused_with_tensor_value_and_what_calibration_saw(value: float, domain: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(pair(value, domain))
    text = (
        f"node 'q' (QuantizeLinear): the scale of tensor 'x' is {value:g}: a scale ('s') must be positive and finite; "
    )
    assert str(caught.value).startswith(text + SAW[value])
    assert (caught.value.where.node, caught.value.where.tensor, caught.value.code) == ("q", "x", 3)


def test_the_channel_is_named() -> None:
    with pytest.raises(ModelError, match=r"the scale of tensor 'x' is 0 in channel 2: a scale \('s'\)"):
        load(pair([1, 2, 0, 0]))


def test_a_scale_in_half_precision_or_from_a_constant_node_is_seen() -> None:
    constant = onnx.helper.make_node(
        "Constant", [], ["s"], value=onnx.numpy_helper.from_array(np.array(np.inf, np.float16))
    )
    nodes = [constant, node("DequantizeLinear", "x s", "y", "d")]
    with pytest.raises(ModelError, match=r"node 'd' \(DequantizeLinear\): the scale of tensor 'x' is inf"):
        load(model(nodes, {}, {"x": onnx.TensorProto.INT8, "y": onnx.TensorProto.FLOAT16}))


def convolution(**wrong: float) -> onnx.ModelProto:
    scales = {"x_s": np.float32(0.1), "w_s": np.full(2, 0.1, np.float32), "y_s": np.float32(0.2)}
    for name, value in wrong.items():
        scales[name] = np.asarray([0.1, value], np.float32) if name == "w_s" else np.float32(value)
    constants = {**scales, "z": np.int8(0), "w": np.ones((2, 4, 3, 3), np.int8)}
    nodes = [node("QLinearConv", "x x_s z w w_s z y_s z", "y", "conv")]
    return model(nodes, constants, {"x": onnx.TensorProto.INT8, "y": onnx.TensorProto.INT8})


@pytest.mark.parametrize(
    ("scale", "tensor"), [("x_s", "'x' is nan"), ("w_s", "'w' is nan in channel 1"), ("y_s", "'y' is nan")]
)
def test_every_scale_of_a_quantised_operator_is_read(scale: str, tensor: str) -> None:
    load(convolution())
    with pytest.raises(
        ModelError, match=rf"node 'conv' \(QLinearConv\): the scale of tensor {tensor}: a scale \('{scale}'\)"
    ):
        load(convolution(**{scale: np.nan}))


@pytest.mark.parametrize(("place", "tensor"), [(0, "'y'"), (3, "'x'"), (6, "'b'")])
def test_every_scale_of_a_concatenation_is_read(place: int, tensor: str) -> None:
    operands = ["s", "z", "x", "s", "z", "b", "s", "z"]
    operands[place] = "zero"
    constants = {"s": np.float32(0.5), "zero": np.float32(0), "z": np.int8(0), "b": np.ones((3, 4), np.int8)}
    nodes = [node("QLinearConcat", " ".join(operands), "y", "join", MICROSOFT, axis=1)]
    with pytest.raises(ModelError, match=rf"node 'join' \(QLinearConcat\): the scale of tensor {tensor} is 0"):
        load(model(nodes, constants, {"x": onnx.TensorProto.INT8, "y": onnx.TensorProto.INT8}))


def test_a_scale_of_qonnx_is_read() -> None:
    constants = {"s": np.float32(-1), "z": np.float32(0), "bits": np.float32(8)}
    nodes = [node("Quant", "x s z bits", "y", "quant", "qonnx.custom_op.general", signed=1, narrow=0)]
    with pytest.raises(ModelError, match=r"node 'quant' \(Quant\): the scale of tensor 'x' is -1"):
        load(model(nodes, constants, {}))


@pytest.mark.parametrize("scale", [1e-45, 1e-38, 1e30, float(np.finfo(np.float32).max)])
def test_every_positive_finite_scale_means_what_it_says(scale: float) -> None:
    proto = pair(scale)
    feeds = {"x": (random_feeds(load(proto))["x"] * np.float32(min(scale, 1e38))).astype(np.float32)}
    np.testing.assert_array_equal(execute(load(proto), feeds)["y"], reference(proto, feeds)["y"])


def test_the_scales_of_blocks_may_be_0_or_negative_and_nothing_else() -> None:
    def blocks(scale: float) -> onnx.ModelProto:
        scales = np.asarray([[0.5, 0.5], [0.5, scale], [0.5, 0.5]], np.float32)
        nodes = [node("DequantizeLinear", "w s", "v", "d", axis=1, block_size=2), node("Add", "x v", "y")]
        return model(nodes, {"w": np.ones((3, 4), np.int8), "s": scales}, {})

    x = {"x": np.zeros((3, 4), np.float32)}
    np.testing.assert_array_equal(execute(load(blocks(0)), x)["y"][1], [0.5, 0.5, 0, 0])
    np.testing.assert_array_equal(execute(load(blocks(-1)), x)["y"][1], [0.5, 0.5, -1, -1])
    with pytest.raises(ModelError, match=r"the scale of tensor 'w' is inf at \[1, 1\]"):
        load(blocks(np.inf))


def sums(scale: float, output: float, bias: bool) -> onnx.ModelProto:
    constants = {
        "xs": np.float32(scale), "ys": np.float32(output), "z": np.int8(0), "w": np.ones((2, 4, 1, 1), np.int8),
        "b": np.asarray([1000, -2000], np.int32),
    }  # fmt: skip
    nodes = [node("QLinearConv", "x xs z w xs z ys z" + " b" * bias, "y", "conv")]
    return model(nodes, constants, {"x": onnx.TensorProto.INT8, "y": onnx.TensorProto.INT8})


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("scale", "output"), [(1e-25, 1e-30), (1e-25, 1.0), (1e-22, 1e-30), (1e15, 1e-10)])
def test_scales_whose_ratio_leaves_float32_give_what_onnx_runtime_gives(
    scale: float, output: float, bias: bool
) -> None:
    proto = sums(scale, output, bias)
    x = np.random.default_rng(3).integers(-128, 128, (1, 4, 6, 6)).astype(np.int8)
    placed = place(load_and_pass(proto, "net"), platform("generic"))
    np.testing.assert_array_equal(run(placed.plan, [x])[0], reference(proto, {"x": x})["y"])


def test_a_bias_without_a_finite_scale_is_refused() -> None:
    with pytest.raises(UnsupportedNode) as caught:
        load_and_pass(sums(1e25, 1.0, True), "net")
    assert str(caught.value) == (
        "node 'conv' (QLinearConv): its bias 'b' has no finite scale: the product of the scales 'xs' and 'xs' is "
        "larger than any float32; calibrate with data of the size that the network sees"
    )
