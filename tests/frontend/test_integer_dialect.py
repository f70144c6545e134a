"""QuantLib's and Deeploy's operators: the integer arithmetic of their documentation, bit by bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from graphs import execute, node, onnx_model
from tilewright.frontend.load import load

RANDOM = np.random.default_rng(3)
Integers = Any  # arrays of whole numbers
X: Integers = RANDOM.integers(-128, 128, (1, 4, 16))
WEIGHTS, BIASES = RANDOM.integers(1, 400, (2, 16))


def floats(values: Any) -> Any:
    return np.asarray(values, np.float32)


def root(value: Integers) -> Integers:
    return np.floor(np.sqrt(value.astype(np.float64))).astype(np.int64)


def toward_zero(a: Integers, b: Integers | int) -> Integers:
    return np.sign(a) * (np.abs(a) // b)


def requantised(x: Integers, mul: Integers, add: Integers, shift: int, low: int, high: int) -> Integers:
    return np.clip((x * mul + add + (1 << shift - 1)) >> shift, low, high)


def soft(x: Integers) -> Integers:
    below = x - x.max(-1, keepdims=True)
    halvings = np.clip(-below // 127, 0, 31)
    value = ((below + halvings * 127 + 173) ** 2 + 15599) >> halvings
    return value * 255 // value.sum(-1, keepdims=True)


def halved(x: Integers) -> Integers:
    steps = (x.max(-1, keepdims=True) - x + 16) >> 5
    inverse = 255 * 256 // (256 >> steps).sum(-1, keepdims=True)
    return inverse >> steps


def grouped(x: Integers) -> Integers:
    result = np.zeros_like(x)
    for row in np.ndindex(x.shape[:-1]):
        largest, total = -128, 0
        for group in x[row].reshape(-1, 4):
            new = max(largest, int(group.max()))
            total = (total >> (new - largest + 16 >> 5 if new > largest else 0)) + int(
                sum(256 >> (new - int(each) + 16 >> 5) for each in group)
            )
            largest = new
        result[row] = (127 * 256 // total) >> ((largest - x[row] + 16) >> 5)
    return result


def gelu(x: Integers) -> Integers:
    near = np.minimum(np.abs(x), 40) - 40
    return x * ((1743 + np.sign(x) * (1743 - near**2)) >> 1)


def rms(x: Integers) -> Integers:
    deviation = root((x**2).sum(-1, keepdims=True) // 16 + 1)
    return np.clip(toward_zero(x * WEIGHTS * 200, deviation) >> 8, -128, 127)


def layer(x: Integers) -> Integers:
    centred = x - toward_zero(x.sum(-1, keepdims=True), 16)
    deviation = root((centred**2).sum(-1, keepdims=True) // 16 + 1)
    return np.clip((toward_zero(centred * WEIGHTS, deviation) + BIASES) >> 3, -128, 127)


def divided(x: Integers) -> Integers:
    value, by = x * 64 * 7, 7 * (np.abs(X[:, :1]) + 1) + 1
    return toward_zero(value + np.sign(value) * (by >> 1), by)


MUL, ADD = RANDOM.integers(1, 4000, (2, 4))
CASES: dict[str, tuple[onnx.NodeProto, dict[str, Any], Integers]] = {
    "RequantShift signed": (
        node("RequantShift", "x m a", "y", div=onnx.numpy_helper.from_array(floats([4096.0])), signed=1, n_levels=256),
        {"m": floats(MUL), "a": floats(ADD)},
        requantised(X, MUL[:, None], ADD[:, None], 12, -128, 127),
    ),
    "RequantShift unsigned": (
        node("RequantShift", "x m a", "y", domain="PACTOps", div=256.0, signed=0.0, n_levels_out=256.0),
        {"m": floats(MUL.reshape(1, 4, 1)), "a": floats(-700)},
        requantised(X, MUL[:, None], np.asarray(-700), 8, 0, 255),
    ),
    "iSoftmax": (node("iSoftmax", "x", "y", coeffA=1, coeffB=173, coeffC=15599, log2=127, n_levels=256), {}, soft(X)),
    "ITAMax": (node("ITAMax", "x", "y", n_levels=256), {}, halved(X)),
    "ITAPartialMax": (node("ITAPartialMax", "x", "y", n_levels=256, group_width=4), {}, grouped(X)),
    "iGELU": (node("iGELU", "x", "y", b=-40, one=1743), {}, gelu(X)),
    "iHardswish": (
        node("iHardswish", "x", "y", one_over_six=33, six=1530, three=765),
        {},
        X * np.clip(X + 765, 0, 1530) * 33,
    ),
    "iRMSNorm": (node("iRMSNorm", "x w", "y", D=256, n_levels=256), {"w": floats(WEIGHTS * 200)}, rms(X)),
    "iLayerNorm": (
        node("iLayerNorm", "x w b", "y", D=8, n_levels=256),
        {"w": floats(WEIGHTS), "b": floats(BIASES)},
        layer(X),
    ),
    "iNoNorm": (
        node("iNoNorm", "x w b", "y", D=65536, mul=425, n_levels=256),
        {"w": floats(WEIGHTS), "b": floats(BIASES)},
        np.clip((X * WEIGHTS + BIASES) * 425 >> 16, -128, 127),
    ),
    "IntegerDiv": (
        node("IntegerDiv", "x d", "y", domain="PACTOps", Delta=64, eta=7, eps=1),
        {"d": floats(np.abs(X[:, :1]) + 1)},
        divided(X),
    ),
    "TrueIntegerDiv": (
        node("TrueIntegerDiv", "x", "y", Delta=64, eta=1000, eps=1, y=3),
        {},
        X * 64 * 1000 // 3001,
    ),
    "IntegerMean": (node("IntegerMean", "x", "y", axes=[1], keepdims=0), {}, (X.sum(1) + 2) >> 2),
    "IntegerMean kept": (
        node("IntegerMean", "x", "y", axes=[2, 1], keepdims=1),
        {},
        toward_zero(X.sum((1, 2), keepdims=True) + np.sign(X.sum()) * 32, 64),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_nodes_compute_the_integers(name: str) -> None:
    made, constants, expected = CASES[name]
    made.name = "n"
    proto = onnx_model([made], {"x": X.shape}, ["y"], constants, 13)
    if made.domain:
        proto.opset_import.add(domain=made.domain, version=1)
    found = execute(load(proto), {"x": X.astype(np.float32)})["y"]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("op", ["SoftmaxGrad", "GeluGrad", "LayerNormalizationGrad"])
def test_gradients_are_those_of_finite_differences(op: str) -> None:
    special = pytest.importorskip("scipy.special")
    x, dy = RANDOM.standard_normal((2, 3, 8))
    scale, bias = RANDOM.standard_normal((2, 8))

    def value(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if op == "SoftmaxGrad":
            return np.asarray(np.exp(x) / np.exp(x).sum(-1, keepdims=True))
        if op == "GeluGrad":
            return np.asarray(0.5 * x * (1 + special.erf(x / np.sqrt(2))))
        return np.asarray((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias)

    expected = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-5
        expected[place] = ((value(x + step) - value(x - step)) / 2e-5 * dy).sum()
    inputs = {"dy": dy, "x": value(x) if op == "SoftmaxGrad" else x, "s": scale, "b": bias}
    operands = "dy x s b" if op.startswith("Layer") else "dy x"
    results = "y ds db" if op.startswith("Layer") else "y"
    feeds = {name: inputs[name].astype(np.float32) for name in operands.split()}
    made = node(op, operands, results, "n", "com.microsoft")
    proto = onnx_model([made], {name: array.shape for name, array in feeds.items()}, results.split())
    proto.opset_import.add(domain="com.microsoft", version=1)
    found = execute(load(proto), feeds)
    np.testing.assert_allclose(found["y"], expected, rtol=1e-3, atol=1e-4)
    if op.startswith("Layer"):
        normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(found["ds"], (dy * normal).sum(0), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found["db"], dy.sum(0), rtol=1e-3, atol=1e-4)


def test_nodes_of_an_older_opset_in_a_graph_that_was_joined() -> None:
    nodes = [
        node("Squeeze", "x", "s", axes=[0], description="[Backward pass]"),
        node("Pad", "s", "p", pads=[1, 0, 0, 2]),
        node("Gelu", "p", "y"),
    ]
    proto = onnx_model(nodes, {"x": [1, 2, 3]}, ["y"], opset=13)
    proto.opset_import.add(domain="", version=10)
    model = load(proto)
    assert model.notes == ("domain '' is imported as versions 10, 13; the newest is taken",)
    found = execute(model, {"x": np.full((1, 2, 3), 100, np.float32)})["y"]
    np.testing.assert_array_equal(found, np.pad(np.full((2, 3), 100), ((1, 0), (0, 2))))


def test_a_stack_of_matrices_in_a_gemm() -> None:
    a, b, c = RANDOM.standard_normal((2, 3, 4)), RANDOM.standard_normal((5, 4)), RANDOM.standard_normal(5)
    proto = onnx_model(
        [node("Gemm", "a b c", "y", transB=1, alpha=0.5)],
        {"a": a.shape},
        ["y"],
        {"b": b.astype(np.float32), "c": c.astype(np.float32)},
    )
    found = execute(load(proto), {"a": a.astype(np.float32)})["y"]
    np.testing.assert_allclose(found, 0.5 * a @ b.T + c, rtol=1e-5, atol=1e-6)


DEEPLOY = Path(os.environ.get("DEEPLOY_TESTS", "DeeployTest/Tests"))
NETWORKS = ("Models/MLPerf/KeywordSpotting", "Models/CCT/Int/ICCT_ITA", "Models/microLlama/INT8/microLlama1")


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_of_deeploy(name: str) -> None:
    folder = DEEPLOY / name
    if not (folder / "network.onnx").is_file():
        pytest.skip(f"the networks of Deeploy: no {folder}; DEEPLOY_TESTS names the folder DeeployTest/Tests")
    model = load(folder / "network.onnx")
    with np.load(folder / "inputs.npz") as stored:
        feeds = {
            each: stored[file].astype(np.float32).reshape(model.tensors[each].shape)
            for each, file in zip(model.inputs, stored.files, strict=True)
        }
    found = execute(model, feeds)
    with np.load(folder / "outputs.npz") as stored:
        for each, file in zip(model.outputs, stored.files, strict=True):
            np.testing.assert_array_equal(found[each].reshape(-1), stored[file].reshape(-1))
