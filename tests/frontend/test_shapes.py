"""What is constant vanishes, what is absurd is refused, and the order of the model stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, random_feeds, reference
from onnx import TensorProto, numpy_helper
from tilewright.errors import ModelError, UnsupportedError, UnsupportedNode
from tilewright.frontend import shapes
from tilewright.frontend.load import load
from tilewright.model import DType

I64 = np.int64


def test_a_chain_that_computes_a_shape_vanishes() -> None:
    nodes = [
        node("Relu", "x", "r"),
        node("Shape", "r", "s"),
        node("Gather", "s zero", "n"),
        node("Unsqueeze", "n zeros", "nn"),
        node("Concat", "nn minus", "target", axis=0),
        node("Reshape", "r target", "y"),
    ]
    constants = {"zero": np.int64(0), "zeros": np.array([0], I64), "minus": np.array([-1], I64)}
    model = load(onnx_model(nodes, {"x": ["N", 3, 4]}, ["y"], constants))
    assert [each.op for each in model.nodes] == ["Relu", "Reshape"]
    assert model.tensors["y"].shape == (1, 12)
    assert set(model.constants) == {"target"}


def test_shape_and_size_need_no_value_so_their_producers_go_too() -> None:
    nodes = [
        node("Exp", "x", "costly"),
        node("Shape", "costly", "s", start=1),
        node("ConstantOfShape", "s", "c", value=numpy_helper.from_array(np.array([2.5], np.float32))),
        node("Add", "x c", "y"),
    ]
    model = load(onnx_model(nodes, {"x": [2, 3]}, ["y"]))
    assert [each.op for each in model.nodes] == ["Add"]
    np.testing.assert_array_equal(model.constants["c"], np.full(3, 2.5, np.float32))


def test_every_kind_of_constant_node_is_read() -> None:
    kinds: list[tuple[str, Any]] = [
        ("value_float", 1.5),
        ("value_floats", [1.0, 2.0]),
        ("value_int", 3),
        ("value_ints", [1, 2]),
    ]
    for name, value in kinds:
        model = load(onnx_model([node("Constant", "", "c", **{name: value}), node("Cast", "c", "f", to=1)], {}, ["f"]))
        assert model.nodes[0].op == "Identity"
        np.testing.assert_array_equal(execute(model, {})["f"], np.array(value, np.float32))
    proto = onnx_model([node("Constant", "", "c", "text", value_string="hello")], {}, ["c"])
    with pytest.raises(UnsupportedNode, match=r"node 'text' \(Constant\): it holds text, which is not supported"):
        load(proto)


def test_an_output_that_is_constant_is_still_computed() -> None:
    model = load(onnx_model([node("Neg", "w", "y", "n")], {}, ["y"], {"w": np.ones(3, np.float32)}))
    assert [(each.op, each.name, each.outputs) for each in model.nodes] == [("Identity", "y/copy", ("y",))]
    np.testing.assert_array_equal(execute(model, {})["y"], -np.ones(3))


def test_a_constant_that_is_an_output_can_be_read_too() -> None:
    model = load(
        onnx_model(
            [node("Add", "x w", "y"), node("Neg", "w", "n")], {"x": [2]}, ["y", "n", "w"], {"w": np.ones(2, np.float32)}
        )
    )
    assert [each.op for each in model.nodes] == ["Add", "Identity", "Identity"]
    result = execute(model, {"x": np.zeros(2, np.float32)})
    assert {name: array.tolist() for name, array in result.items()} == {"y": [1, 1], "n": [-1, -1], "w": [1, 1]}


def test_a_dequantised_constant_stays_a_quantised_one() -> None:
    constants = {"q": np.array([1, 2], np.int8), "s": np.float32(0.5)}
    model = load(
        onnx_model([node("DequantizeLinear", "q s", "w"), node("Add", "x w", "y")], {"x": [2]}, ["y"], constants)
    )
    assert [each.op for each in model.nodes] == ["DequantizeLinear", "Add"]
    assert model.tensors["q"].dtype is DType.I8
    model = load(onnx_model([node("DequantizeLinear", "q s", "w")], {}, ["w"], constants))
    assert [each.op for each in model.nodes] == ["Identity"]


def test_nodes_that_no_output_needs_are_dropped_even_where_we_could_not_compute_them() -> None:
    nodes = [node("Relu", "x", "y"), node("NonZero", "x", "dead"), node("Abs", "dead", "deader")]
    assert [each.op for each in load(onnx_model(nodes, {"x": [3]}, ["y"])).nodes] == ["Relu"]


def test_an_index_output_that_nobody_reads_is_omitted() -> None:
    made = node("MaxPool", "x", "y i", kernel_shape=[2])
    model = load(onnx_model([made], {"x": [1, 1, 4]}, ["y"]))
    assert model.nodes[0].outputs == ("y",)


def test_outputs_beyond_two_gigabytes_are_refused() -> None:
    constants = {"shape": np.array([1 << 12, 1 << 10, 1 << 10], I64)}
    with pytest.raises(UnsupportedNode, match="is larger than 2 GiB"):
        load(onnx_model([node("Expand", "x shape", "y")], {"x": [1]}, ["y"], constants))
    with pytest.raises(
        ModelError, match=r"tensor 'y' cannot be used: its shape \[1048576, 1048576\] means 4398046511104"
    ):
        load(onnx_model([node("Add", "a b", "y")], {"a": [1 << 20, 1], "b": [1, 1 << 20]}, ["y"]))


def test_folding_stops_where_it_would_take_long() -> None:
    constants = {"w": np.ones((1500, 1500), np.float32)}
    nodes = [node("MatMul", "w w", "a"), node("MatMul", "a a", "b"), node("Add", "x b", "y")]
    model = load(onnx_model(nodes, {"x": [1500]}, ["y"], constants))
    assert [each.op for each in model.nodes] == ["MatMul", "MatMul", "Add"]


def test_constants_that_would_fill_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "BYTE_LIMIT", 1000)
    proto = onnx_model([node("Add", "x w", "y")], {"x": [300]}, ["y"], {"w": np.ones(300, np.float32)})
    with pytest.raises(ModelError, match="the model is too large: its constants take more than 1000 bytes"):
        load(proto)


@pytest.mark.parametrize(
    "made",
    [
        node("Conv", "x w", "y", "n"),
        node("Reshape", "x bad", "y", "n"),
        node("Concat", "x w", "y", "n", axis=7),
        node("Transpose", "x", "y", "n", perm=[0, 0, 1]),
        node("MatMul", "x w", "y", "n"),
        node("Gather", "w far", "y", "n"),
        node("Cast", "x", "y", "n", to=99),
        node("MaxPool", "x", "y", "n", kernel_shape=[0]),
        node("MaxPool", "x", "y", "n", kernel_shape=[1 << 40]),
        node("Split", "x", "y z", "n", axis=1, num_outputs=0),
        node("Pad", "x bad", "y", "n"),
    ],
    ids=lambda made: made.op_type,
)
def test_operands_that_do_not_go_together_are_one_sentence(made: onnx.NodeProto) -> None:
    constants = {"w": np.ones((2, 2), np.float32), "bad": np.array([-2, 1 << 60], I64), "far": np.array([99], I64)}
    opset = 18 if made.op_type == "Split" else 17
    with pytest.raises((ModelError, UnsupportedNode)) as caught:
        load(onnx_model([made], {"x": [1, 3, 4]}, ["y"], constants, opset))
    assert "\n" not in str(caught.value)
    assert "'n'" in str(caught.value)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (
            node("LayerNormalization", "i w", "y", "n"),
            "input 'i' is of type i32, the operator takes bf16, f16, f32, f64",
        ),
        (node("Add", "x i", "y", "n"), "inputs 'x' and 'i' must be of one type, they are f32 and i32"),
        (node("Concat", "x x i", "y", "n", axis=0), "inputs 'x' and 'i' must be of one type, they are f32 and i32"),
        (node("Reshape", "x i", "y", "n"), "input 'i' is of type i32, the operator takes i64"),
        (node("Where", "x x x", "y", "n"), "input 'x' is of type f32, the operator takes bool"),
    ],
    ids=lambda made: getattr(made, "op_type", ""),
)
def test_types_that_an_operator_does_not_take_are_refused(made: onnx.NodeProto, why: str) -> None:
    constants = {"w": np.ones(3, np.float32)}
    proto = onnx_model([made], {"x": [2, 3], "i": [2, 3]}, ["y"], constants, types={"i": TensorProto.INT32})
    with pytest.raises(ModelError) as caught:
        load(proto)
    assert str(caught.value) == f"node 'n' ({made.op_type}) is invalid: {why}; check how the model was exported"


def test_folding_is_exact() -> None:
    weights = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    nodes = [node("Transpose", "w", "t"), node("Mul", "t t", "m"), node("MatMul", "x m", "y")]
    proto = onnx_model(nodes, {"x": [2, 4]}, ["y"], {"w": weights})
    model = load(proto)
    assert [each.op for each in model.nodes] == ["MatMul"]
    feeds = random_feeds(model)
    np.testing.assert_allclose(execute(model, feeds)["y"], reference(proto, feeds)["y"], rtol=1e-6)


def test_four_bit_weights_keep_their_type() -> None:
    proto = onnx_model(
        [node("DequantizeLinear", "q s", "w"), node("Add", "x w", "y")], {"x": [3]}, ["y"], {"s": np.float32(1)}, 21
    )
    proto.graph.initializer.append(onnx.helper.make_tensor("q", TensorProto.INT4, [3], [-8, 7, 1]))
    model = load(proto)
    assert model.tensors["q"].dtype is DType.I4
    assert model.constants["q"].tolist() == [-8, 7, 1]
    assert model.tensors["q"].size_bytes == 2


def test_what_has_no_element_is_known() -> None:
    nodes = [
        node("Slice", "x two two", "none"),
        node("Concat", "none x", "y", axis=0),
        node("ReduceSum", "none rows", "z", keepdims=0),
    ]
    constants = {"two": np.array([2], I64), "rows": np.array([0], I64)}
    proto = onnx_model(nodes, {"x": [2, 3]}, ["y", "z"], constants)
    model = load(proto)
    assert "Slice" not in [each.op for each in model.nodes]
    feeds = random_feeds(model)
    for name, value in reference(proto, feeds).items():
        np.testing.assert_array_equal(execute(model, feeds)[name], value)


def test_an_output_without_elements_is_refused() -> None:
    proto = onnx_model([node("Slice", "x two two", "none")], {"x": [2, 3]}, ["none"], {"two": np.array([2], I64)})
    with pytest.raises(UnsupportedError) as caught:
        load(proto)
    why = "its shape [0, 3] has no elements; remove this output from the model"
    assert str(caught.value) == f"output 'none' cannot be used: {why}"


def test_a_first_output_that_is_omitted_gets_a_name_but_not_all_steps_of_a_recurrent_one() -> None:
    split = load(onnx_model([node("Split", "x", "- y", axis=0, num_outputs=2)], {"x": [4, 2]}, ["y"], opset=18))
    assert all(split.nodes[0].outputs)
    assert split.nodes[0].outputs[1] == "y"
    weights = {"w": np.ones((1, 9, 4), np.float32), "r": np.ones((1, 9, 3), np.float32)}
    step = load(onnx_model([node("GRU", "x w r", "- y", hidden_size=3)], {"x": [5, 1, 4]}, ["y"], weights))
    assert step.nodes[0].outputs == ("", "y")
