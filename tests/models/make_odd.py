"""Small seeded float networks that no kernel was written for: odd sizes, and the families beside plain CNNs.

    python tests/models/make_odd.py [NAME ...]

writes `odd_NAME/`; those in `QUANTISED` also as `odd_NAME_int8/`.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from network_files import Arrays, save_network
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from quantise import quantise

QUANTISED = ("mobile", "temporal", "unet")


class Sketch:
    """A graph under construction; every method appends a node and returns the name of its result.

    Inputs are floats but for those that `types` names.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: dict[str, list[int]] = {}
        self.types: dict[str, int] = {}
        self.outputs: list[str] = []

    def input(self, name: str, *shape: int) -> str:
        """An input, of floats unless `types` says otherwise."""
        self.inputs[name] = list(shape)
        return name

    def node(self, op: str, *inputs: str, results: int = 1, **attributes: Any) -> Any:
        """One result's name, or a list of names where there are several."""
        stem = f"{op}_{len(self.nodes)}"
        names = [stem] if results == 1 else [f"{stem}_{index}" for index in range(results)]
        self.nodes.append(helper.make_node(op, inputs, names, stem, **attributes))
        return names[0] if results == 1 else names

    def constant(self, values: NDArray[Any] | Sequence[int]) -> str:
        """A constant; a list of whole numbers becomes int64."""
        array = values if isinstance(values, np.ndarray) else np.array(values, np.int64)
        self.constants.append(numpy_helper.from_array(array, f"constant_{len(self.constants)}"))
        return self.constants[-1].name

    def weight(self, *shape: int, fan_in: int = 0) -> str:
        """Whole numbers over 64, times a power of two near the square root of 2 / fan-in."""
        inputs = fan_in or int(np.prod(shape[1:]))
        gain = 2.0 ** round(np.log2(np.sqrt(3.0 / inputs)))
        return self.constant((self.random.integers(-64, 65, shape) / 64 * gain).astype(np.float32))

    def bias(self, size: int) -> str:
        """Small values around zero."""
        return self.constant((self.random.integers(-16, 17, size) / 64).astype(np.float32))

    def convolution(self, x: str, inputs: int, outputs: int, kernel: Sequence[int], group: int = 1, **more: Any) -> str:
        """Conv with weights and bias; SAME-like pads unless given."""
        pads = more.pop("pads", [k // 2 for k in kernel] * 2)
        weights = self.weight(outputs, inputs // group, *kernel)
        result: str = self.node(
            "Conv", x, weights, self.bias(outputs), kernel_shape=list(kernel), pads=pads, group=group, **more
        )
        return result

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        """MatMul and Add, over the last axis."""
        product = self.node("MatMul", x, self.weight(inputs, outputs, fan_in=inputs))
        result: str = self.node("Add", product, self.bias(outputs))
        return result

    def output(self, tensor: str, name: str) -> None:
        """Make a tensor a result of the network."""
        self.nodes.append(helper.make_node("Identity", [tensor], [name], name))
        self.outputs.append(name)

    def result(self, name: str, op: str, *inputs: str) -> None:
        """A node that writes a result of the network."""
        self.nodes.append(helper.make_node(op, inputs, [name], name))
        self.outputs.append(name)

    def finish(self, opset: int = 17) -> onnx.ModelProto:
        """The checked model, with the shapes of its outputs inferred."""
        graph = helper.make_graph(
            self.nodes,
            self.name,
            [
                helper.make_tensor_value_info(name, self.types.get(name, TensorProto.FLOAT), shape)
                for name, shape in self.inputs.items()
            ],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 + (opset > 18))
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        del model.graph.value_info[:]
        onnx.checker.check_model(model, full_check=True)
        return model


def mobile() -> onnx.ModelProto:
    """Inverted residuals of MobileNetV2 on 37 x 53 pixels with 7, 11 and 13 channels."""
    net = Sketch("odd_mobile")
    x, channels = net.input("image", 1, 3, 37, 53), 7
    six = (net.constant(np.array(0, np.float32)), net.constant(np.array(6, np.float32)))
    x = net.node("Clip", net.convolution(x, 3, 7, (3, 3), strides=[2, 2]), *six)
    for outputs, stride, expansion in ((7, 1, 3), (11, 2, 4), (11, 1, 5), (13, 2, 3), (13, 1, 2)):
        inner = channels * expansion
        y = net.node("Clip", net.convolution(x, channels, inner, (1, 1)), *six)
        y = net.node("Clip", net.convolution(y, inner, inner, (3, 3), inner, strides=[stride, stride]), *six)
        y = net.convolution(y, inner, outputs, (1, 1))
        x, channels = (net.node("Add", x, y) if outputs == channels and stride == 1 else y), outputs
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    x = net.node("Mul", x, net.constant(np.array(4, np.float32)))
    net.output(net.dense(x, 13, 5), "scores")
    return net.finish()


def temporal() -> onnx.ModelProto:
    """Causal dilated 1-D convolutions with residuals over 101 steps of 6 channels."""
    net = Sketch("odd_temporal")
    x = net.convolution(net.input("signal", 1, 6, 101), 6, 10, (1,))
    for dilation in (1, 2, 4, 8):
        y = net.convolution(x, 10, 10, (3,), pads=[2 * dilation, 0], dilations=[dilation])
        y = net.convolution(net.node("Relu", y), 10, 10, (1,))
        x = net.node("Relu", net.node("Add", x, y))
    last = net.node("Slice", x, net.constant([-1]), net.constant([101]), net.constant([2]))
    net.output(net.dense(net.node("Squeeze", last, net.constant([2])), 10, 3), "forecast")
    return net.finish()


def unet() -> onnx.ModelProto:
    """Two levels down and up again with ConvTranspose and Concat; a mask of 20 x 28."""
    net = Sketch("odd_unet")
    x = net.node("Relu", net.convolution(net.input("image", 1, 2, 20, 28), 2, 5, (3, 3)))
    kept = [x]
    for inputs, outputs in ((5, 9), (9, 14)):
        x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = net.node("Relu", net.convolution(x, inputs, outputs, (3, 3)))
        kept.append(x)
    for inputs, outputs, beside in ((14, 9, kept[1]), (9, 5, kept[0])):
        weights = net.weight(inputs, outputs, 2, 2, fan_in=inputs)
        x = net.node("ConvTranspose", x, weights, net.bias(outputs), kernel_shape=[2, 2], strides=[2, 2])
        x = net.node("Concat", beside, x, axis=1)
        x = net.node("Relu", net.convolution(x, 2 * outputs, outputs, (3, 3)))
    net.output(net.node("Sigmoid", net.convolution(x, 5, 1, (1, 1))), "mask")
    return net.finish()


def transformer() -> onnx.ModelProto:
    """One encoder block: 9 tokens of 24 values, 3 heads, LayerNormalization, Gelu."""
    net = Sketch("odd_transformer")
    x = net.input("tokens", 1, 9, 24)

    def normalised(value: str) -> str:
        scale = net.constant((1 + net.random.integers(-8, 9, 24) / 64).astype(np.float32))
        result: str = net.node("LayerNormalization", value, scale, net.bias(24), axis=-1)
        return result

    def heads(value: str, order: list[int]) -> str:
        parts = net.node("Reshape", value, net.constant([1, 9, 3, 8]))
        result: str = net.node("Transpose", parts, perm=order)
        return result

    first = normalised(x)
    query, key, value = (net.dense(first, 24, 24) for _ in range(3))
    scores = net.node("MatMul", heads(query, [0, 2, 1, 3]), heads(key, [0, 2, 3, 1]))
    weights = net.node("Softmax", net.node("Div", scores, net.constant(np.array(8**0.5, np.float32))), axis=-1)
    mixed = net.node("Transpose", net.node("MatMul", weights, heads(value, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    x = net.node("Add", x, net.dense(net.node("Reshape", mixed, net.constant([1, 9, 24])), 24, 24))
    x = net.node("Add", x, net.dense(net.node("Gelu", net.dense(normalised(x), 24, 40)), 40, 24))
    pooled = net.node("ReduceMean", normalised(x), net.constant([1]), keepdims=0)
    net.output(net.dense(pooled, 24, 6), "classes")
    return net.finish(opset=20)


def lstm() -> onnx.ModelProto:
    """12 steps of 5 values through an LSTM of 9 units, read in both directions."""
    net = Sketch("odd_lstm")
    x = net.input("steps", 12, 1, 5)
    weights = [net.weight(2, 36, 5, fan_in=5), net.weight(2, 36, 9, fan_in=9)]
    bias = net.constant((net.random.integers(-16, 17, (2, 72)) / 64).astype(np.float32))
    every, last = net.node("LSTM", x, *weights, bias, results=2, hidden_size=9, direction="bidirectional")
    net.output(net.node("Squeeze", every, net.constant([2])), "states")
    flat = net.node("Reshape", net.node("Transpose", last, perm=[1, 0, 2]), net.constant([1, 18]))
    net.output(net.dense(flat, 18, 4), "classes")
    return net.finish()


def several() -> onnx.ModelProto:
    """Two inputs and three outputs; an input that is also read last, broadcasting, Split, Pad, uneven Concat."""
    net = Sketch("odd_several")
    image, gains = net.input("image", 1, 4, 11, 9), net.input("gains", 1, 4)
    column = net.node("Unsqueeze", net.node("Tanh", gains), net.constant([2, 3]))
    scaled = net.node("Mul", image, column)
    left, right = net.node("Split", scaled, net.constant([1, 3]), axis=1, results=2)
    left = net.node("LeakyRelu", net.convolution(left, 1, 3, (5, 3)), alpha=0.125)
    net.output(net.node("Sub", left, right), "difference")
    padded = net.node("Pad", right, net.constant([0, 0, 1, 2, 0, 0, 0, 1]))
    pooled = net.node("AveragePool", padded, kernel_shape=[3, 3], strides=[2, 3], count_include_pad=0)
    pooled = net.node("HardSwish", pooled)
    net.output(net.node("ReduceMax", pooled, axes=[2, 3], keepdims=0), "peaks")
    both = net.node("Concat", image, left, axis=1)
    pair = net.node("Max", net.convolution(both, 7, 4, (1, 1)), image)
    net.output(net.node("Reshape", pair, net.constant([4, 99])), "rows")
    return net.finish()


ODD: dict[str, Callable[[], onnx.ModelProto]] = {
    "mobile": mobile, "temporal": temporal, "unet": unet, "transformer": transformer, "lstm": lstm, "several": several,
}  # fmt: skip


def odd_inputs(model: onnx.ModelProto, count: int) -> list[Arrays]:
    """Seeded inputs between -4 and 4 in steps of 1/32: noise around a level for each channel, which averages keep."""
    random = np.random.default_rng(zlib.crc32(model.graph.name.encode()) ^ 1)
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}

    def values(shape: list[int]) -> NDArray[np.float32]:
        levels = random.integers(-80, 81, shape[:2] + [1] * (len(shape) - 2))
        return ((levels + random.integers(-48, 49, shape)) / 32).astype(np.float32)

    return [{name: values(shape) for name, shape in shapes.items()} for _ in range(count)]


def main() -> None:
    """Write the named networks, or all."""
    for name in sys.argv[1:] or ODD:
        model = ODD[name]()
        inputs = odd_inputs(model, 32)
        save_network(Path(__file__).parent / f"odd_{name}", model, inputs[0])
        if name in QUANTISED:
            save_network(Path(__file__).parent / f"odd_{name}_int8", quantise(model, inputs), inputs[0])


if __name__ == "__main__":
    main()
