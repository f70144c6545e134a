"""Small networks in a float type of one's choice."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tilewright.model import DType

KINDS = {DType.F16: TensorProto.FLOAT16, DType.BF16: TensorProto.BFLOAT16, DType.F32: TensorProto.FLOAT}


def classifier(kind: DType) -> onnx.ModelProto:
    """Convolution, Relu, pools, a product, an addition, Softmax, a sum, and a cast of the sum to float32."""
    random = np.random.default_rng(7)
    shapes = {"w": (4, 2, 3, 3), "b": (4,), "k": (4, 5), "a": (5,)}
    constants = [
        numpy_helper.from_array((random.standard_normal(shape) * 0.4).astype(kind.numpy), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["m"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "k"], ["p"]),
        helper.make_node("Add", ["p", "a"], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"]),
        helper.make_node("ReduceSum", ["s", "axes"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["z"], to=TensorProto.FLOAT),
    ]
    axes = numpy_helper.from_array(np.array([1], np.int64), "axes")
    inputs = [helper.make_tensor_value_info("x", KINDS[kind], [1, 2, 8, 8])]
    outputs = [
        helper.make_tensor_value_info("y", KINDS[kind], [1, 5]),
        helper.make_tensor_value_info("z", TensorProto.FLOAT, [1]),
    ]
    graph = helper.make_graph(nodes, "classifier", inputs, outputs, [*constants, axes])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def one_node(kind: DType, op: str, shape: tuple[int, ...] = (4,)) -> onnx.ModelProto:
    """One operator of one operand."""
    x, y = (helper.make_tensor_value_info(name, KINDS[kind], shape) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "one", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
