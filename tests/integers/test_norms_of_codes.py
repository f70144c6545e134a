"""What networks quantised in training keep: normalisations behind codes, and biases in floats of long sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tilewright.cli import main
from tilewright.frontend.load import load
from tilewright.passes.quantise.lower import lower

RNG = np.random.default_rng(8)


def saved(file: Path, nodes: list[onnx.NodeProto], constants: dict[str, Any], shapes: list[list[int]]) -> Path:
    """A network of one input and one output."""
    ends = [helper.make_tensor_value_info(name, 1, shape) for name, shape in zip("xy", shapes, strict=True)]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def coded(name: str, result: str, zero: str = "zero") -> list[onnx.NodeProto]:
    """A pair behind a tensor."""
    return [
        helper.make_node("QuantizeLinear", [name, f"{result}_scale", zero], [f"{result}_codes"], f"{result}_q"),
        helper.make_node("DequantizeLinear", [f"{result}_codes", f"{result}_scale", zero], [result], f"{result}_dq"),
    ]


def normalised(
    file: Path, *, by_channel: bool, in_floats: bool, group: int = 1, bias: bool = True, least: int = -127
) -> Path:  # fmt: skip
    """A convolution in codes, its normalisation with factors of both signs, a Relu."""
    weights = RNG.integers(least, 128, (8, 8 // group, 3, 3)).astype(np.int8)
    weights.reshape(8, -1)[:, 0] = least
    scale = RNG.uniform(0.005, 0.02, 8).astype(np.float32) if by_channel else np.float32(0.01)
    zeros = np.zeros(8, np.int8) if by_channel else np.int8(0)
    spread = np.reshape(scale, (-1, 1, 1, 1)) if by_channel else scale
    constants: dict[str, Any] = {
        "zero": np.int8(0), "a_scale": np.float32(0.03), "y_scale": np.float32(0.05), "w_scale": scale, "w_zero": zeros,
        "gamma": RNG.standard_normal(8).astype(np.float32), "beta": RNG.standard_normal(8).astype(np.float32),
        "mean": RNG.standard_normal(8).astype(np.float32), "variance": RNG.uniform(0.5, 2, 8).astype(np.float32),
        "b": RNG.standard_normal(8).astype(np.float32),
        "w_codes" if not in_floats else "w_real": weights if not in_floats else (weights * spread).astype(np.float32),
    }  # fmt: skip
    axis: dict[str, Any] = {"axis": 0} if by_channel else {}
    nodes = coded("x", "a")
    if in_floats:
        nodes.append(helper.make_node("QuantizeLinear", ["w_real", "w_scale", "w_zero"], ["w_codes"], "w_q", **axis))
    nodes += [
        helper.make_node("DequantizeLinear", ["w_codes", "w_scale", "w_zero"], ["w"], "w_dq", **axis),
        helper.make_node("Conv", ["a", "w", *(["b"] if bias else [])], ["c"], "conv", pads=[1, 1, 1, 1], group=group),
        helper.make_node("BatchNormalization", ["c", "gamma", "beta", "mean", "variance"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["r"], "relu"),
        *coded("r", "y"),
    ]
    return saved(file, nodes, constants, [[1, 8, 5, 6], [1, 8, 5, 6]])


FORMS = [(True, True, 1, True), (True, False, 8, True), (False, False, 1, False), (False, True, 1, True)]


@pytest.mark.parametrize(("by_channel", "in_floats", "group", "bias"), FORMS)
def test_a_normalisation_goes_into_scales(
    by_channel: bool, in_floats: bool, group: int, bias: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = normalised(tmp_path / "net.onnx", by_channel=by_channel, in_floats=in_floats, group=group, bias=bias)
    assert main(["run", str(file), "-t", "host", "--integer-only"]) == 0
    told = capsys.readouterr().out
    assert "outputs match" in told
    assert "0 explained" in told


def test_codes_that_have_no_negative_stay_before_their_normalisation(tmp_path: Path) -> None:
    file = normalised(tmp_path / "net.onnx", by_channel=True, in_floats=False, least=-128)
    ops = [node.op for node in lower(load(file.read_bytes())).nodes]
    assert "BatchNormalization" in ops
    assert main(["run", str(file), "-t", "host"]) == 0


def test_a_long_sum_with_a_bias_in_floats_is_one_of_integers(tmp_path: Path) -> None:
    """With sixteen bits of fractions its requantisation would leave 64 bits."""
    weights = RNG.integers(-127, 128, (10, 1152)).astype(np.int8)
    constants: dict[str, Any] = {
        "zero": np.int8(0), "a_scale": np.float32(0.03), "y_scale": np.float32(0.0051), "w_codes": weights,
        "w_scale": RNG.uniform(0.00002, 0.00003, 10).astype(np.float32), "w_zero": np.zeros(10, np.int8),
        "b": (RNG.standard_normal(10) * 0.1).astype(np.float32),
    }  # fmt: skip
    nodes = [
        *coded("x", "a"), helper.make_node("DequantizeLinear", ["w_codes", "w_scale", "w_zero"], ["w"], "w_dq", axis=0),
        helper.make_node("Gemm", ["a", "w", "b"], ["g"], "dense", transB=1), *coded("g", "y"),
    ]  # fmt: skip
    file = saved(tmp_path / "net.onnx", nodes, constants, [[1, 1152], [1, 10]])
    assert main(["run", str(file), "-t", "host", "--integer-only"]) == 0
