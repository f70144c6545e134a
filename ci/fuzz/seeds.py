"""The sound models that the fuzzer starts from: small, of many kinds, built in code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_GENERATOR = np.random.default_rng(0)


def _weights(*shape: int) -> Any:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def _node(op: str, inputs: str, outputs: str, domain: str = "", **attributes: Any) -> onnx.NodeProto:
    read, written = (["" if part == "-" else part for part in text.split()] for text in (inputs, outputs))
    return helper.make_node(op, read, written, f"{op}_{outputs.split()[0]}", domain=domain, **attributes)


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: str,
    constants: Mapping[str, Any],
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "seed",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("acme", 1)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=9)


def _cnn() -> onnx.ModelProto:
    nodes = [
        _node("Pad", "x p", "a", mode="constant"),
        _node("Conv", "a w b", "c", strides=[2, 2], kernel_shape=[3, 3]),
        _node("BatchNormalization", "c s s s s", "d"),
        _node("Relu", "d", "e"),
        _node("MaxPool", "e", "f", kernel_shape=[2, 2]),
        _node("Conv", "f v", "g", group=4, pads=[1, 1, 1, 1]),
        _node("Clip", "g zero six", "h"),
        _node("Add", "h f", "i"),
        _node("GlobalAveragePool", "i", "j"),
        _node("Flatten", "j", "k"),
        _node("Gemm", "k u", "l", transB=1),
        _node("Softmax", "l", "y", axis=1),
    ]
    constants = {
        "p": np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64),
        "w": _weights(4, 3, 3, 3),
        "b": _weights(4),
        "s": np.abs(_weights(4)),
        "v": _weights(4, 1, 3, 3),
        "zero": np.float32(0),
        "six": np.float32(6),
        "u": _weights(5, 4),
    }
    return _model(nodes, {"x": ["N", 3, 12, 12]}, "y", constants)


def _old() -> onnx.ModelProto:
    nodes = [
        _node("Unsqueeze", "x", "a", axes=[0]),
        _node("Pad", "a", "b", pads=[0, 0, 1, 1, 0, 0, 1, 1]),
        _node("Upsample", "b scales", "c", mode="nearest"),
        _node("Slice", "c", "d", starts=[0, 1], ends=[1, 3], axes=[0, 2]),
        _node("Clip", "d", "e", min=0.0, max=1.0),
        _node("Squeeze", "e", "f", axes=[0]),
        _node("Split", "f", "g h", axis=2),
        _node("ReduceSum", "g", "i", axes=[1]),
        _node("TopK", "h", "v t", k=2),
        _node("Softmax", "i", "y"),
    ]
    return _model(nodes, {"x": [2, 4, 6]}, "y v", {"scales": np.array([1, 1, 2, 2], np.float32)}, 9)


def _shapes() -> onnx.ModelProto:
    nodes = [
        _node("Shape", "x", "s"),
        _node("Gather", "s zero", "n"),
        _node("Concat", "n minus", "t", axis=0),
        _node("Reshape", "x t", "a"),
        _node("Transpose", "a", "b", perm=[1, 0]),
        _node("Expand", "b wide", "c"),
        _node("Tile", "c twice", "d"),
        _node("Slice", "d begin end axis", "e"),
        _node("Where", "yes e e", "f"),
        _node("ConstantOfShape", "n", "g"),
        _node("Range", "r0 r1 r2", "h"),
        _node("Cast", "h", "i", to=1),
        _node("CumSum", "f axis0", "j"),
        _node("ArgMax", "j", "k", axis=0),
        _node("GatherElements", "j k", "l", axis=0),
        _node("Add", "l g", "y"),
    ]
    constants = {
        "zero": np.array([0], np.int64),
        "minus": np.array([-1], np.int64),
        "wide": np.array([2, 12, 1], np.int64),
        "twice": np.array([1, 2, 1], np.int64),
        "begin": np.array([1], np.int64),
        "end": np.array([9], np.int64),
        "axis": np.array([1], np.int64),
        "axis0": np.int64(0),
        "yes": np.array([True]),
        "r0": np.int64(0),
        "r1": np.int64(9),
        "r2": np.int64(2),
    }
    return _model(nodes, {"x": [1, 3, 4]}, "y i", constants)


def _attention() -> onnx.ModelProto:
    nodes = [
        _node("LayerNormalization", "x s b", "n", axis=-1),
        _node("MatMul", "n w", "q"),
        _node("Transpose", "q", "k", perm=[0, 2, 1]),
        _node("MatMul", "q k", "c"),
        _node("Softmax", "c", "d", axis=-1),
        _node("MatMul", "d q", "e"),
        _node("Gelu", "e", "f", approximate="tanh"),
        _node("Einsum", "f w", "g", equation="bij,jk->bik"),
        _node("Resize", "img - scales", "h", mode="linear"),
        _node("LSTM", "seq lw lr", "o", hidden_size=3),
        _node("ReduceMean", "g axes", "y"),
    ]
    constants = {
        "s": _weights(8),
        "b": _weights(8),
        "w": _weights(8, 8),
        "scales": np.array([1, 1, 2, 2], np.float32),
        "axes": np.array([1], np.int64),
        "lw": _weights(1, 12, 4),
        "lr": _weights(1, 12, 3),
    }
    return _model(nodes, {"x": [1, 5, 8], "img": [1, 1, 3, 3], "seq": [4, 1, 4]}, "y h o", constants, 20)


def _quantised() -> onnx.ModelProto:
    nodes = [
        _node("QuantizeLinear", "x sx zx", "q"),
        _node("DequantizeLinear", "q sx zx", "a"),
        _node("DequantizeLinear", "w sw zw", "b", axis=0),
        _node("Conv", "a b", "c"),
        _node("Relu", "c", "d"),
        _node("QuantizeLinear", "d sx zx", "e"),
        _node("DequantizeLinear", "e sx zx", "f"),
        _node("QLinearMatMul", "e sx zx m sx zx sx zx", "g"),
        _node("DequantizeLinear", "g sx zx", "y"),
    ]
    constants = {
        "sx": np.float32(0.1),
        "zx": np.int8(3),
        "w": np.arange(-9, 9, dtype=np.int8).reshape(2, 1, 3, 3),
        "sw": np.array([0.1, 0.2], np.float32),
        "zw": np.zeros(2, np.int8),
        "m": np.ones((4, 4), np.int8),
    }
    return _model(nodes, {"x": [1, 1, 6, 6]}, "y f", constants)


def _functions() -> onnx.ModelProto:
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    leaky = _node("LeakyRelu", "a", "b")
    leaky.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    inner = helper.make_function("acme", "Inner", ["a"], ["b"], [leaky], imports, ["slope"])
    calls = [_node("Inner", "a", "t", "acme", slope=0.1), _node("HardSwish", "t", "b")]
    outer = helper.make_function("acme", "Outer", ["a"], ["b"], calls, imports)
    out = [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)]
    then = helper.make_graph([_node("Add", "c w", "out")], "then", [], out, [numpy_helper.from_array(_weights(3), "w")])
    otherwise = helper.make_graph([_node("Neg", "c", "out")], "else", [], out)
    nodes = [
        _node("Outer", "x", "c", "acme"),
        _node("If", "yes", "d", then_branch=then, else_branch=otherwise),
        _node("Constant", "", "e", value=numpy_helper.from_array(_weights(2, 3), "")),
        _node("Mul", "d e", "f"),
        _node("Celu", "f", "y", alpha=2.0),
    ]
    proto = _model(nodes, {"x": [2, 3]}, "y", {"yes": np.bool_(True)}, 17, [inner, outer])
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(_weights(2), "sp"), numpy_helper.from_array(np.array([1, 4], np.int64), "spi"), [2, 3]
    )
    proto.graph.sparse_initializer.append(sparse)
    proto.graph.node.append(_node("Sub", "y sp", "z"))
    proto.graph.output[0].name = "z"
    return proto


def _loops() -> onnx.ModelProto:
    """Loops of known turns, outputs that are omitted, tensors without elements, and moves with indices."""
    scalars = [helper.make_tensor_value_info("i", TensorProto.INT64, [])]
    scalars.append(helper.make_tensor_value_info("again", TensorProto.BOOL, []))
    carried = helper.make_tensor_value_info("v", TensorProto.FLOAT, None)
    made = [helper.make_tensor_value_info("go", TensorProto.BOOL, [])]
    made += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("out", "row")]
    inside = [
        _node("Less", "i last", "go"),
        _node("Mul", "v w", "out"),
        _node("ReduceMax", "out", "row", keepdims=0),
    ]
    held = [numpy_helper.from_array(np.array(1, np.int64), "last"), numpy_helper.from_array(_weights(4), "w")]
    body = helper.make_graph(inside, "body", [*scalars, carried], made, held)
    nodes = [
        _node("Loop", "four yes x", "a rows", body=body),
        _node("Slice", "a far far", "none"),
        _node("Concat", "none a", "b", axis=0),
        _node("Split", "b", "- c", axis=0),
        _node("TopK", "c two", "t p", axis=1),
        _node("GatherElements", "c p", "g", axis=1),
        _node("GRU", "seq gw gr", "- h", hidden_size=3),
        _node("ScatterND", "b places g0", "d"),
        _node("ConvTranspose", "img k", "e", output_shape=[7, 7], strides=[2, 2]),
        _node("Sum", "t g", "y"),
    ]
    constants = {
        "four": np.int64(4),
        "yes": np.bool_(True),
        "far": np.array([2], np.int64),
        "two": np.array([2], np.int64),
        "gw": _weights(1, 9, 4),
        "gr": _weights(1, 9, 3),
        "places": np.array([[1]], np.int64),
        "g0": _weights(1, 4),
        "k": _weights(1, 2, 3, 3),
    }
    inputs = {"x": [2, 4], "seq": [3, 1, 4], "img": [1, 1, 3, 3]}
    return _model(nodes, inputs, "y rows h d e", constants)


def seed_models() -> list[onnx.ModelProto]:
    """One sound model of each kind; they carry no random state, so every call gives the same."""
    global _GENERATOR
    _GENERATOR = np.random.default_rng(0)
    return [_cnn(), _old(), _shapes(), _attention(), _quantised(), _functions(), _loops()]
