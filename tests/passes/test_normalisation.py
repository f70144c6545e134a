"""Normalisations written as means, squares and roots become one operator, and nothing else does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model
from tilewright.frontend.load import load
from tilewright.passes.driver import run

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((2, 3, 8)).astype(np.float32)
CONSTANTS = {
    "axes": np.array([-1]),
    "both": np.array([1, 2]),
    "first": np.array([1]),
    "two": np.array(2, np.float32),
    "one": np.array([1], np.float32),
    "eps": np.array(1e-3, np.float32),
    "g": RANDOM.standard_normal(8).astype(np.float32),
    "h": RANDOM.standard_normal((1, 1, 8)).astype(np.float32),
    "rows": RANDOM.standard_normal((3, 1)).astype(np.float32),
}
MEAN = [("ReduceMean", "x axes", "m"), ("Sub", "x m", "d")]
SQUARES = {
    "Pow": [("Pow", "{d} two", "p")],
    "Mul": [("Mul", "{d} {d}", "p")],
}
ENDS = {
    "Div": [("Div", "{d} s", "n")],
    "Reciprocal": [("Reciprocal", "s", "r"), ("Mul", "{d} r", "n")],
    "inverse": [("Div", "one s", "r"), ("Mul", "r {d}", "n")],
}
AFFINE = [("Mul", "n g", "w"), ("Add", "h w", "y")]
Lines = Sequence[tuple[str, str, str]]


def written(square: str, end: str, centred: bool, behind: Lines, axes: str = "axes") -> list[onnx.NodeProto]:
    lines = [
        *(MEAN if centred else ()),
        *SQUARES[square],
        ("ReduceMean", f"p {axes}", "v"),
        ("Add", "v eps", "a"),
        ("Sqrt", "a", "s"),
        *ENDS[end],
        *behind,
    ]
    d = "d" if centred else "x"
    return [node(op, inputs.format(d=d), output) for op, inputs, output in lines]


def lowered(nodes: list[onnx.NodeProto], outputs: Sequence[str] = ("y",)) -> list[str]:
    used = {name for each in nodes for name in each.input}
    constants = {name: value for name, value in CONSTANTS.items() if name in used}
    proto = onnx_model(nodes, {"x": X.shape}, list(outputs), constants, opset=18)
    model = load(proto)
    done, _ = run(model)
    for name, value in execute(model, {"x": X}).items():
        np.testing.assert_allclose(execute(done, {"x": X})[name], value, rtol=1e-5, atol=1e-5)
    return [each.op for each in done.nodes]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("square", SQUARES)
def test_every_spelling_becomes_one_operator(square: str, end: str) -> None:
    assert lowered(written(square, end, True, AFFINE)) == ["LayerNormalization"]
    assert lowered(written(square, end, False, [("Mul", "g n", "y")])) == ["RMSNormalization"]


def test_without_factors_and_over_two_axes() -> None:
    assert lowered(written("Pow", "Div", True, [("Relu", "n", "y")])) == ["LayerNormalization", "Relu"]
    assert lowered(written("Pow", "Div", False, [("Relu", "n", "y")], "both")) == ["RMSNormalization", "Relu"]


def test_factors_along_other_axes_stay_behind() -> None:
    assert lowered(written("Mul", "Div", True, [("Mul", "n rows", "y")])) == ["LayerNormalization", "Mul"]


@pytest.mark.parametrize("read", ["m", "d", "p", "v", "s"])
def test_what_others_read_is_not_taken_away(read: str) -> None:
    ops = lowered([*written("Pow", "Div", True, AFFINE), node("Neg", read, "other")], ["y", "other"])
    assert "LayerNormalization" not in ops
    assert "Sqrt" in ops


def test_means_over_other_axes_are_left_as_they_are() -> None:
    assert "Sqrt" in lowered(written("Pow", "Div", True, AFFINE, "first"))
    nodes = written("Pow", "Div", True, AFFINE, "both")  # centred over one axis, squared over two
    assert lowered(nodes).count("RMSNormalization") == 1


def test_a_power_of_two_is_a_product() -> None:
    assert lowered([node("Pow", "x two", "y")]) == ["Mul"]
    assert lowered([node("Pow", "x g", "y")]) == ["Pow"]
