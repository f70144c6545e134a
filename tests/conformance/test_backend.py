"""The interface of ONNX for backends: a model, a node; docs/backend.md runs the standard's own tests."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
import onnx
import pytest
import tilewright.backend
from graphs import node, onnx_model


def test_a_model_with_an_open_shape_and_one_node() -> None:
    proto = onnx_model([node("Add", "x w", "y")], {"x": ["n", 3]}, ["y"], {"w": np.array([1, 2, 3], np.float32)})
    prepared = tilewright.backend.prepare(proto)
    found: Any = prepared.run([np.ones((2, 3), np.float32)])
    np.testing.assert_array_equal(found["y"], [[2, 3, 4]] * 2)
    np.testing.assert_array_equal(prepared.run({"x": np.zeros((1, 3), np.float32)})[0], [[1, 2, 3]])
    made = onnx.helper.make_node("Relu", ["x"], ["y"])
    (found,) = tilewright.backend.run_node(made, [np.array([-1, 2], np.float32)])
    np.testing.assert_array_equal(found, [0, 2])


def test_four_bits_have_the_type_of_the_onnx_package() -> None:
    proto = onnx_model([node("Cast", "x", "y", to=onnx.TensorProto.INT4)], {"x": [3]}, ["y"], opset=21,
                       types={"y": onnx.TensorProto.INT4})  # fmt: skip
    (found,) = tilewright.backend.run_model(proto, [np.array([-8, 0, 7], np.float32)])
    assert found.dtype == onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.INT4)
    np.testing.assert_array_equal(found.astype(int), [-8, 0, 7])


def test_what_is_refused_says_why() -> None:
    kinds = {name: onnx.TensorProto.STRING for name in "xy"}
    proto = onnx_model([node("Identity", "x", "y")], {"x": [2]}, ["y"], types=kinds)
    with pytest.raises(unittest.SkipTest, match="elements of type string are not supported"):
        tilewright.backend.run_model(proto, [np.array(["a", "b"])])


def test_a_sequence_is_refused() -> None:
    proto = onnx_model([node("SequenceLength", "s", "y")], {"s": [1]}, ["y"])
    part = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [None])
    proto.graph.input[0].type.CopyFrom(onnx.helper.make_sequence_type_proto(part))
    with pytest.raises(unittest.SkipTest, match=r"input 's' cannot be used: it is not a tensor \(sequence_type\)"):
        tilewright.backend.run_model(proto, [[np.zeros(2), np.zeros(3)]])


def test_another_device_is_refused() -> None:
    assert not tilewright.backend.supports_device("CUDA")
    with pytest.raises(unittest.SkipTest, match="there is no device 'CUDA' here; choose CPU"):
        tilewright.backend.prepare(onnx.ModelProto(), "CUDA")
