"""Every spelling of a quantised operator against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from graphs import node, onnx_model
from integers.codes import compare, feeds_for, run_codes
from onnx import TensorProto, helper
from tilewright.errors import UnsupportedNode
from tilewright.frontend.load import load
from tilewright.passes.quantise.lower import lower
from tilewright.passes.quantise.report import quantisation_report

Values = npt.NDArray[Any]
RNG = np.random.default_rng(7)


def codes(*shape: int, dtype: type = np.int8, low: int = -128, high: int = 128) -> Values:
    return RNG.integers(low, high, shape).astype(dtype)


def seven_bits(*shape: int) -> Values:
    """Weights beside unsigned codes: ONNX Runtime saturates pairs of products of eight bits on x86-64 without VNNI."""
    return codes(*shape, low=-64, high=64)


def scale(value: float) -> Values:
    return np.asarray(value, np.float32)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[int, ...]],
    constants: dict[str, npt.ArrayLike],
    types: dict[str, int],
    opset: int = 17,
) -> onnx.ModelProto:
    proto = onnx_model(nodes, inputs, ["y"], constants, opset=opset, types={**types})
    for domain in {each.domain for each in nodes if each.domain}:
        proto.opset_import.append(helper.make_opsetid(domain, 1))
    return proto


I8, U8 = TensorProto.INT8, TensorProto.UINT8


def qlinear_conv(unsigned: bool, channels: bool) -> onnx.ModelProto:
    kind = np.uint8 if unsigned else np.int8
    zero, low = (121, 0) if unsigned else (-9, -128)
    scales = RNG.uniform(0.001, 0.01, 5 if channels else ()).astype(np.float32)
    zeros = np.zeros(scales.shape, np.int8)
    constants: dict[str, npt.ArrayLike] = {
        "xs": scale(0.03), "xz": kind(zero), "w": seven_bits(5, 3, 3, 3), "ws": scales, "wz": zeros,
        "ys": scale(0.05), "yz": kind(zero + 5), "b": RNG.integers(-3000, 3000, 5).astype(np.int32),
    }  # fmt: skip
    assert low <= zero
    nodes = [node("QLinearConv", "x xs xz w ws wz ys yz b", "y", "conv", pads=[1, 1, 1, 1])]
    return model(nodes, {"x": (1, 3, 7, 6)}, constants, {"x": U8 if unsigned else I8, "y": U8 if unsigned else I8})


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("channels", [False, True])
def test_qlinear_conv(unsigned: bool, channels: bool) -> None:
    lowered, found = compare(qlinear_conv(unsigned, channels))
    assert [each.op for each in lowered.nodes] == ["Conv"]
    assert lowered.quantisation_form == "QOperator"
    assert (found.codes, found.unexplained) == (5 * 7 * 6, 0)


def test_qlinear_matmul_of_two_activations() -> None:
    nodes = [node("QLinearMatMul", "a as az b bs bz ys yz", "y", "product")]
    constants: dict[str, npt.ArrayLike] = {
        "as": scale(0.02), "az": np.uint8(100), "bs": scale(0.01), "bz": np.uint8(130), "ys": scale(0.03),
        "yz": np.uint8(99),
    }  # fmt: skip
    proto = model(nodes, {"a": (2, 4, 6), "b": (2, 6, 5)}, constants, {"a": U8, "b": U8, "y": U8})
    lowered, found = compare(proto)
    assert [each.op for each in lowered.nodes] == ["MatMul"]
    assert found.unexplained == 0


@pytest.mark.parametrize("turned", [0, 1])
def test_qgemm_with_codes_as_its_result(turned: int) -> None:
    nodes = [node("QGemm", "a as az b bs bz c ys yz", "y", "gemm", "com.microsoft", transB=turned)]
    constants: dict[str, npt.ArrayLike] = {
        "as": scale(0.02), "az": np.uint8(100), "b": seven_bits(*((5, 6) if turned else (6, 5))),
        "bs": scale(0.01), "bz": np.int8(0), "c": RNG.integers(-900, 900, 5).astype(np.int32),
        "ys": scale(0.03), "yz": np.uint8(99),
    }  # fmt: skip
    lowered, found = compare(model(nodes, {"a": (3, 6)}, constants, {"a": U8, "y": U8}))
    assert [each.op for each in lowered.nodes] == ["Gemm"]
    assert found.unexplained == 0


def test_qgemm_without_output_scale_gives_floats() -> None:
    nodes = [node("QGemm", "a as az b bs bz", "y", "gemm", "com.microsoft")]
    constants: dict[str, npt.ArrayLike] = {
        "as": scale(0.02), "az": np.uint8(100), "b": seven_bits(6, 5), "bs": scale(0.01), "bz": np.int8(0),
    }  # fmt: skip
    lowered, found = compare(model(nodes, {"a": (3, 6)}, constants, {"a": U8}))
    assert quantisation_report(lowered).first_float_node == "gemm"
    assert found.float_error < 1e-5


BINARY: dict[str, npt.ArrayLike] = {
    "as": scale(0.021), "az": np.int8(-5), "bs": scale(0.013), "bz": np.int8(17), "ys": scale(0.027),
    "yz": np.int8(3),
}  # fmt: skip


@pytest.mark.parametrize("op", ["Add", "Mul"])
def test_qlinear_pairs(op: str) -> None:
    nodes = [node(f"QLinear{op}", "a as az b bs bz ys yz", "y", "pair", "com.microsoft")]
    lowered, found = compare(model(nodes, {"a": (2, 50), "b": (2, 50)}, BINARY, {"a": I8, "b": I8, "y": I8}))
    assert [each.op for each in lowered.nodes] == [op]
    assert found.unexplained == 0


UNARY: dict[str, npt.ArrayLike] = {"xs": scale(0.05), "xz": np.uint8(120), "ys": scale(0.004), "yz": np.uint8(1)}


@pytest.mark.parametrize(
    ("name", "op", "attributes"),
    [
        ("QLinearSigmoid", "Sigmoid", {}),
        ("QLinearLeakyRelu", "LeakyRelu", {"alpha": 0.1}),
        ("QLinearAveragePool", "AveragePool", {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0]}),
        ("QLinearGlobalAveragePool", "GlobalAveragePool", {"channels_last": 0}),
        ("QLinearSoftmax", "Softmax", {"axis": -1, "opset": 13}),
    ],
)
def test_qlinear_operators_of_one_tensor(name: str, op: str, attributes: dict[str, Any]) -> None:
    # ONNX Runtime truncates 1 / y_scale to an integer in QLinearSoftmax, so the scale here has a whole inverse.
    constants = {**UNARY, "ys": scale(0.03 if "Pool" in name or "Leaky" in name else 2.0**-8)}
    nodes = [node(name, "x xs xz ys yz", "y", "one", "com.microsoft", **attributes)]
    lowered, found = compare(model(nodes, {"x": (1, 4, 8, 8)}, constants, {"x": U8, "y": U8}))
    assert [each.op for each in lowered.nodes] == [op]
    assert found.codes > 0
    assert found.unexplained == 0


@pytest.mark.parametrize(("axis", "operators"), [(1, ["Reshape", "Softmax", "Reshape"]), (-1, ["Softmax"])])
def test_a_softmax_of_an_old_opset_takes_all_axes_from_its_own_on(axis: int, operators: list[str]) -> None:
    constants = {**UNARY, "ys": scale(2.0**-8)}
    nodes = [node("QLinearSoftmax", "x xs xz ys yz", "y", "one", "com.microsoft", axis=axis, opset=11)]
    lowered, found = compare(model(nodes, {"x": (2, 3, 4)}, constants, {"x": U8, "y": U8}))
    assert [each.op for each in lowered.nodes] == operators
    assert found.codes > 0
    assert found.unexplained == 0


def test_qlinear_concat_brings_its_operands_to_one_scale() -> None:
    nodes = [node("QLinearConcat", "ys yz a as az b bs bz", "y", "join", "com.microsoft", axis=1)]
    lowered, found = compare(model(nodes, {"a": (2, 50), "b": (2, 30)}, BINARY, {"a": I8, "b": I8, "y": I8}))
    assert [each.op for each in lowered.nodes] == ["Concat"]
    assert (found.codes, found.unexplained) == (160, 0)


def test_qcdq_clips_become_the_range_of_the_codes() -> None:
    nodes = [
        node("QuantizeLinear", "x s z", "q", "quantise"),
        node("Clip", "q low high", "c", "narrow"),
        node("DequantizeLinear", "c s z", "d"),
        node("Relu", "d", "r"),
        node("QuantizeLinear", "r s z", "y"),
    ]
    constants: dict[str, npt.ArrayLike] = {
        "s": scale(0.1), "z": np.int8(0), "low": np.asarray(-7, np.int8), "high": np.asarray(7, np.int8),
    }  # fmt: skip
    lowered, found = compare(model(nodes, {"x": (4, 9)}, constants, {"y": I8}))
    assert lowered.quantisation_form == "QCDQ"
    assert found.unexplained == 0
    x = np.linspace(-3, 3, 36, dtype=np.float32).reshape(4, 9)
    assert run_codes(lowered, {"x": x})["y"].max() == 7


@pytest.mark.parametrize("op", ["Quant", "IntQuant"])
@pytest.mark.parametrize("bits", [4, 8, 3])
@pytest.mark.parametrize("channels", [True, False])
def test_qonnx_networks_compute_what_their_floats_say(op: str, bits: int, channels: bool) -> None:
    domain = "qonnx.custom_op.general"
    nodes = [
        node(op, "x xs zero bits", "xq", "qx", domain, signed=1, narrow=0, rounding_mode="ROUND"),
        node(op, "w ws zero wbits", "wq", "qw", domain, signed=1, narrow=1, rounding_mode="ROUND"),
        node(op, "b bs zero bbits", "bq", "qb", domain, signed=1, narrow=0, rounding_mode="ROUND"),
        node("Conv", "xq wq bq", "c", "conv"),
        node("Relu", "c", "r"),
        node(op, "r ys zero bits", "y", "qy", domain, signed=0, narrow=0, rounding_mode="ROUND"),
    ]
    constants: dict[str, npt.ArrayLike] = {
        "xs": scale(0.25), "zero": scale(0.0), "bits": scale(bits), "wbits": scale(4.0), "ys": scale(0.3),
        "w": RNG.standard_normal((4, 2, 3, 3)).astype(np.float32),
        "ws": RNG.uniform(0.1, 0.3, (4, 1, 1, 1) if channels else ()).astype(np.float32),
        "b": RNG.standard_normal(4).astype(np.float32), "bs": scale(0.01), "bbits": scale(32),
    }  # fmt: skip
    plain = load(model(nodes, {"x": (1, 2, 6, 6)}, constants, {}))
    lowered = lower(plain)
    assert lowered.quantisation_form == "QONNX"
    assert [each.op for each in lowered.nodes if each.op not in ("Clip", "QuantizeLinear", "DequantizeLinear")] == [
        "Conv"
    ]
    assert lowered.constants[lowered.nodes[2 if bits < 8 else 1].inputs[1]].dtype == np.int8
    feeds = feeds_for(lowered, 3)
    expected = run_codes(plain, feeds)["y"]
    assert np.abs(run_codes(lowered, feeds)["y"] - expected).max() < 1e-6
    assert np.unique(expected).size > 4


def test_integer_convolution_and_matmul_stay_operators() -> None:
    nodes = [node("ConvInteger", "x w xz wz", "y", "conv")]
    weights = codes(4, 2, 3, 3, dtype=np.uint8, low=0, high=256)
    constants: dict[str, npt.ArrayLike] = {"w": weights, "xz": np.uint8(8), "wz": np.uint8(120)}
    lowered, _ = compare(model(nodes, {"x": (1, 2, 6, 6)}, constants, {"x": U8, "y": TensorProto.INT32}))
    assert [each.op for each in lowered.nodes] == ["ConvInteger"]
    assert lowered.quantisation_form == "QOperator"
    assert quantisation_report(lowered).first_float_node == ""


def test_a_scale_of_the_run_time_is_refused_with_its_name() -> None:
    nodes = [node("QLinearAdd", "a as az b bs bz ys yz", "y", "pair", "com.microsoft")]
    constants = {name: value for name, value in BINARY.items() if name != "as"}
    proto = model(nodes, {"a": (2, 5), "b": (2, 5), "as": ()}, constants, {"a": I8, "b": I8, "y": I8})
    with pytest.raises(UnsupportedNode, match="scale is not known at compile time") as caught:
        lower(load(proto))
    assert caught.value.where.node == "pair"
    assert "--freeze" in str(caught.value)


def test_an_unknown_rounding_mode_is_refused() -> None:
    nodes = [node("Quant", "x s z b", "y", "q", "qonnx.custom_op.general", rounding_mode="FLOOR")]
    constants: dict[str, npt.ArrayLike] = {"s": scale(0.1), "z": scale(0), "b": scale(8)}
    with pytest.raises(UnsupportedNode, match="rounding mode 'FLOOR' is not supported"):
        lower(load(model(nodes, {"x": (4,)}, constants, {})))


def test_onnx_runtimes_own_sixteen_bit_quantisation() -> None:
    nodes = [
        node("QuantizeLinear", "x s z", "q", "quantise", "com.microsoft"),
        node("DequantizeLinear", "q s z", "d", "dequantise", "com.microsoft"),
        node("Mul", "d d", "m", "square"),
        node("QuantizeLinear", "m s z", "y", "again", "com.microsoft"),
    ]
    constants: dict[str, npt.ArrayLike] = {"s": scale(0.001), "z": np.int16(0)}
    lowered, found = compare(model(nodes, {"x": (4, 9)}, constants, {"y": TensorProto.INT16}))
    assert [each.op for each in lowered.nodes] == ["QuantizeLinear", "Mul"]
    assert found.mismatches == 0
