"""BatchNormalization, scalars and biases disappear into the weights of Conv, ConvTranspose, Gemm and MatMul."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from graphs import Dimensions, node, onnx_model, ops, rewritten
from tilewright.frontend.load import load
from tilewright.passes.driver import run

GENERATOR = np.random.default_rng(7)
IMAGE: Dimensions = [2, 4, 6, 5]
folded = partial(rewritten, atol=1e-5)  # folded weights round once more


def some(*shape: int) -> npt.NDArray[np.float32]:
    return GENERATOR.standard_normal(shape).astype(np.float32)


LINEAR: dict[str, tuple[onnx.NodeProto, dict[str, npt.NDArray[Any]], Dimensions]] = {
    "conv": (node("Conv", "x w", "a"), {"w": some(6, 4, 3, 3)}, IMAGE),
    "conv_bias": (node("Conv", "x w b", "a", pads=[1, 1, 1, 1]), {"w": some(6, 4, 3, 3), "b": some(6)}, IMAGE),
    "conv_groups": (node("Conv", "x w", "a", group=2), {"w": some(6, 2, 3, 3)}, IMAGE),
    "conv_1d": (node("Conv", "x w", "a"), {"w": some(6, 4, 3)}, [2, 4, 9]),
    "transposed": (node("ConvTranspose", "x w b", "a"), {"w": some(4, 6, 3, 3), "b": some(6)}, IMAGE),
    "transposed_groups": (node("ConvTranspose", "x w", "a", group=2), {"w": some(4, 3, 3, 3)}, IMAGE),
    "gemm": (node("Gemm", "x w b", "a", alpha=0.5, beta=2.0), {"w": some(4, 6), "b": some(6)}, [3, 4]),
    "gemm_turned": (node("Gemm", "x w", "a", transB=1), {"w": some(6, 4)}, [3, 4]),
    "gemm_scalar_bias": (node("Gemm", "x w b", "a"), {"w": some(4, 6), "b": some(1)}, [3, 4]),
    "matmul": (node("MatMul", "x w", "a"), {"w": some(4, 6)}, [3, 4]),
}


@pytest.mark.parametrize("kind", LINEAR)
def test_batch_normalization_goes_into_the_node_before(kind: str) -> None:
    linear, constants, shape = LINEAR[kind]
    statistics = {"s": some(6), "t": some(6), "m": some(6), "v": np.abs(some(6))}
    normalised = node("BatchNormalization", "a s t m v", "y", epsilon=1e-3)
    model = folded(onnx_model([linear, normalised], {"x": shape}, ["y"], {**constants, **statistics}))
    assert ops(model) == [{"MatMul": "Gemm", "ConvTranspose": "Conv"}.get(linear.op_type, linear.op_type)]
    assert model.nodes[0].outputs == ("y",)


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize(
    "made", ["Mul a c", "Mul c a", "Add a c", "Add c a", "Sub a c", "Sub c a", "Div a c", "Mul a k"]
)
def test_arithmetic_with_constants_goes_into_the_node_before(kind: str, made: str) -> None:
    linear, constants, shape = LINEAR[kind]
    op, left, right = made.split()
    per_channel = some(6) + 3
    if len(shape) > 2:
        per_channel = per_channel.reshape(6, *[1] * (len(shape) - 2))
    arithmetic = {"c": per_channel, "k": np.float32(1.5)}
    model = folded(
        onnx_model([linear, node(op, f"{left} {right}", "y")], {"x": shape}, ["y"], {**constants, **arithmetic})
    )
    assert len(model.nodes) == 1


def test_a_chain_of_them_folds_to_one_node() -> None:
    linear, constants, shape = LINEAR["conv"]
    nodes = [linear, node("Mul", "a k", "b"), node("Add", "b c", "d"), node("Div", "d k", "e"), node("Relu", "e", "y")]
    model = folded(onnx_model(nodes, {"x": shape}, ["y"], {**constants, "k": np.float32(2), "c": some(6, 1, 1)}))
    assert ops(model) == ["Conv"]
    assert model.nodes[0].clamp is not None


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([node("Conv", "x w", "a"), node("Mul", "a wide", "y")], "the constant varies along the width"),
        ([node("Conv", "x w", "a"), node("Add", "a c", "y"), node("Abs", "a", "z")], "another node reads the result"),
        ([node("Conv", "x w", "a"), node("Relu", "a", "r"), node("Mul", "r c", "y")], "a Relu lies between"),
        ([node("Conv", "x w", "a"), node("Div", "c a", "y")], "the constant is divided by the result"),
        ([node("Conv", "x w", "a"), node("Div", "a zeros", "y")], "the constant holds a zero"),
        ([node("Conv", "x v", "a"), node("Mul", "a c", "y")], "the weights are not constant"),
        ([node("Conv", "x w u", "a"), node("Add", "a c", "y")], "the bias is not constant"),
    ],
)
def test_what_is_not_the_same_stays(nodes: list[onnx.NodeProto], why: str) -> None:
    constants = {
        "w": some(6, 4, 3, 3),
        "c": some(6, 1, 1),
        "wide": some(1, 3),
        "zeros": np.zeros((6, 1, 1), np.float32),
    }
    reads = {name for each in nodes for name in each.input}
    inputs: dict[str, Dimensions] = {"x": IMAGE}
    inputs.update({name: shape for name, shape in {"v": [6, 4, 3, 3], "u": [6]}.items() if name in reads})
    outputs = ["y", "z"] if len(nodes) == 3 and nodes[2].output[0] == "z" else ["y"]
    plain = load(onnx_model(nodes, inputs, outputs, constants))
    model, _ = run(plain)
    expected = [each.op_type for each in nodes if each.op_type != "Relu"]
    assert ops(model) == expected, why


def test_an_output_of_the_network_is_not_folded_away() -> None:
    linear, constants, shape = LINEAR["conv"]
    model = folded(
        onnx_model([linear, node("Mul", "a k", "y")], {"x": shape}, ["a", "y"], {**constants, "k": np.float32(2)})
    )
    assert ops(model) == ["Conv", "Mul"]


def test_batch_normalization_alone_is_a_mul_and_an_add() -> None:
    statistics = {"s": some(4), "t": some(4), "m": some(4), "v": np.abs(some(4))}
    model = folded(onnx_model([node("BatchNormalization", "x s t m v", "y", "bn")], {"x": IMAGE}, ["y"], statistics))
    assert [(each.op, each.name) for each in model.nodes] == [("Mul", "bn/mul"), ("Add", "bn")]


def test_weights_shared_by_two_nodes_are_not_spoilt() -> None:
    nodes = [node("Conv", "x w", "a"), node("Mul", "a k", "y"), node("Conv", "x w", "z")]
    model = folded(onnx_model(nodes, {"x": IMAGE}, ["y", "z"], {"w": some(6, 4, 3, 3), "k": np.float32(2)}))
    assert ops(model) == ["Conv", "Conv"]


def test_numbers_that_would_overflow_stay() -> None:
    nodes = [node("Conv", "x w", "a"), node("Mul", "a k", "y")]
    constants = {"w": np.full((6, 4, 1, 1), 1e30, np.float32), "k": np.float32(1e20)}
    model, _ = run(load(onnx_model(nodes, {"x": IMAGE}, ["y"], constants)))
    assert ops(model) == ["Conv", "Mul"]


def test_matmul_of_rank_three_with_a_bias_is_a_gemm_between_views() -> None:
    nodes = [node("MatMul", "x w", "a"), node("Add", "c a", "b"), node("Relu", "b", "y")]
    model = folded(onnx_model(nodes, {"x": [2, 5, 4]}, ["y"], {"w": some(4, 6), "c": some(6)}))
    assert ops(model) == ["Reshape", "Gemm", "Reshape"]
    assert model.nodes[1].clamp is not None
    nodes = [node("MatMul", "x w", "a"), node("Mul", "a c", "y")]
    assert ops(folded(onnx_model(nodes, {"x": [1, 5, 4]}, ["y"], {"w": some(4, 6), "c": some(6)}))) == ["MatMul"]
    nodes = [node("MatMul", "x w", "a"), node("Add", "a wide", "y")]
    model = folded(onnx_model(nodes, {"x": [1, 5, 4]}, ["y"], {"w": some(4, 6), "wide": some(5, 6)}))
    assert ops(model) == ["MatMul", "Add"]


def test_muls_and_adds_by_constants_become_one_of_each() -> None:
    constants = {"a": some(4, 1, 1), "b": some(4, 1, 1), "k": np.float32(3), "d": some(4, 1, 1)}
    nodes = [
        node("Mul", "x a", "t"),
        node("Add", "t b", "u"),
        node("Div", "u k", "v"),
        node("Sub", "v d", "w"),
        node("Relu", "w", "y"),
    ]
    model = folded(onnx_model(nodes, {"x": IMAGE}, ["y"], constants))
    assert [(each.op, each.clamp is not None) for each in model.nodes] == [("Mul", False), ("Add", True)]
    assert not {"t", "u", "v", "w"} & set(model.tensors)


def test_constants_that_would_grow_are_not_merged() -> None:
    constants = {"a": some(4, 1, 1), "b": some(1, 6, 5)}
    nodes = [node("Mul", "x a", "t"), node("Mul", "t b", "y")]
    assert ops(folded(onnx_model(nodes, {"x": IMAGE}, ["y"], constants))) == ["Mul", "Mul"]


def test_arithmetic_has_one_form() -> None:
    constants = {"k": np.float32(3), "zero": np.float32(0)}
    for made, op in (
        ("Sum x x", "Add"),
        ("Sub x k", "Add"),
        ("Div x k", "Mul"),
        ("Sub k x", "Sub"),
        ("Div k x", "Div"),
    ):
        name, first, second = made.split()
        assert ops(folded(onnx_model([node(name, f"{first} {second}", "y")], {"x": IMAGE}, ["y"], constants))) == [op]
    model, _ = run(load(onnx_model([node("Div", "x zero", "y")], {"x": IMAGE}, ["y"], constants)))
    assert ops(model) == ["Div"]


NORMALISED: dict[str, tuple[onnx.NodeProto, dict[str, npt.NDArray[Any]], Dimensions]] = {
    "conv": (node("Conv", "n w", "y"), {"w": some(6, 4, 3, 3)}, IMAGE),
    "conv_bias": (node("Conv", "n w b", "y", strides=[2, 2]), {"w": some(6, 4, 3, 3), "b": some(6)}, IMAGE),
    "gemm": (node("Gemm", "n w b", "y", alpha=0.5, beta=2.0), {"w": some(4, 6), "b": some(6)}, [3, 4]),
    "gemm_turned": (node("Gemm", "n w", "y", transB=1), {"w": some(6, 4)}, [3, 4]),
}


@pytest.mark.parametrize("kind", NORMALISED)
def test_a_normalised_input_is_taken_into_the_first_node(kind: str) -> None:
    linear, constants, shape = NORMALISED[kind]
    per_channel = (4, 1, 1) if len(shape) > 2 else (4,)
    nodes = [node("Sub", "x mean", "m"), node("Div", "m std", "n"), linear]
    statistics = {"mean": some(*per_channel), "std": np.abs(some(*per_channel)) + 0.5}
    model = folded(onnx_model(nodes, {"x": shape}, ["y"], {**constants, **statistics}))
    assert ops(model) == [linear.op_type]


def test_a_shift_before_padding_stays_and_a_scale_goes() -> None:
    nodes = [node("Sub", "x k", "m"), node("Div", "m k", "n"), node("Conv", "n w", "y", pads=[1, 1, 1, 1])]
    model = folded(onnx_model(nodes, {"x": IMAGE}, ["y"], {"w": some(6, 4, 3, 3), "k": np.float32(2)}))
    assert ops(model) == ["Add", "Conv"]
    nodes = [node("Mul", "x k", "n"), node("Conv", "n w", "y", pads=[1, 1, 1, 1])]
    assert ops(folded(onnx_model(nodes, {"x": IMAGE}, ["y"], {"w": some(6, 4, 3, 3), "k": np.float32(2)}))) == ["Conv"]


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Mul", "x wide", "n"), node("Conv", "n w", "y")],
        [node("Mul", "x k", "n"), node("Conv", "n grouped", "y", group=2)],
        [node("Mul", "x k", "n"), node("Conv", "n w", "y"), node("Neg", "n", "z")],
        [node("Mul", "x k", "n"), node("Relu", "n", "m"), node("Conv", "m w", "y")],
    ],
)
def test_what_cannot_be_taken_forward_stays(nodes: list[onnx.NodeProto]) -> None:
    constants = {"w": some(6, 4, 3, 3), "grouped": some(6, 2, 3, 3), "k": np.float32(2), "wide": some(1, 5)}
    outputs = ["y", "z"] if nodes[-1].output[0] == "z" else ["y"]
    model = folded(onnx_model(nodes, {"x": IMAGE}, outputs, constants))
    assert ops(model)[0] == "Mul"


def test_half_precision_folds_and_does_not_overflow() -> None:
    half = {name: some(6, 4, 3, 3).astype(np.float16) if name == "w" else np.float16(2) for name in ("w", "k")}
    types = {name: onnx.TensorProto.FLOAT16 for name in ("x", "y")}
    nodes = [node("Conv", "x w", "a"), node("Mul", "a k", "y")]
    model, _ = run(load(onnx_model(nodes, {"x": IMAGE}, ["y"], half, types=types)))
    assert ops(model) == ["Conv"]
    huge = {**half, "k": np.float16(60000)}
    model, _ = run(load(onnx_model(nodes, {"x": IMAGE}, ["y"], huge, types=types)))
    assert ops(model) == ["Conv", "Mul"]
    statistics = {name: np.full(4, 60000, np.float16) for name in "stm"} | {"v": np.full(4, 1e-4, np.float16)}
    made = node("BatchNormalization", "x s t m v", "y")
    model, _ = run(load(onnx_model([made], {"x": IMAGE}, ["y"], statistics, types=types)))
    assert ops(model) == ["BatchNormalization"]
