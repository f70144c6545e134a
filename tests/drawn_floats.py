"""Float layers of drawn shapes side by side in one network, each with an output of its own."""

from __future__ import annotations

import numpy as np
import onnx
from graphs import node, onnx_model

FUNCTIONS = ("Relu", "LeakyRelu", "HardSwish", "HardSigmoid", "Elu", "Sigmoid", "Tanh", "Softplus", "Gelu")


class Drawn:
    """Nodes and constants as they are drawn."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, list[int | str | None]] = {}
        self.constants: dict[str, object] = {}

    def one_of(self, *choices: int) -> int:
        """One of some numbers."""
        return int(self.generator.choice(choices))

    def floats(self, name: str, *shape: int) -> str:
        """A constant of drawn floats."""
        self.constants[name] = self.generator.normal(size=shape).astype(np.float32)
        return name

    def convolution(self, at: int) -> None:
        """Any kernel, stride, dilation and padding; dense, in groups or of each channel by itself; then a function."""
        channels, group = self.one_of(2, 4, 6), self.one_of(1, 1, 2, 0)
        groups = group or channels
        results, kernel = groups * self.one_of(1, 3, 5), [self.one_of(1, 3, 5), self.one_of(1, 2, 3)]
        pads = [self.one_of(0, 1) for _ in range(4)]
        self.inputs[f"image{at}"] = [1, channels, self.one_of(11, 12), self.one_of(6, 11, 13)]
        weights = self.floats(f"conv_w{at}", results, channels // groups, *kernel)
        names = f"image{at} {weights} {self.floats(f'conv_b{at}', results)}"
        self.nodes.append(
            node(
                "Conv", names, f"conv{at}", kernel_shape=kernel, group=groups, pads=pads,
                strides=[self.one_of(1, 2), self.one_of(1, 2)], dilations=[self.one_of(1, 2), self.one_of(1, 2)],
            )
        )  # fmt: skip
        self.nodes.append(node(str(self.generator.choice(FUNCTIONS)), f"conv{at}", f"conv_y{at}"))

    def pool(self, at: int) -> None:
        """The largest or the mean of windows."""
        op, kernel = ("MaxPool", "AveragePool")[at % 2], [self.one_of(2, 3), self.one_of(1, 2, 3)]
        self.inputs[f"plane{at}"] = [1, self.one_of(2, 4), self.one_of(7, 9), self.one_of(5, 8)]
        pads = [0, 0, self.one_of(0, 1), 0]
        self.nodes.append(node(op, f"plane{at}", f"pool{at}", kernel_shape=kernel, pads=pads, strides=[2, 1]))

    def rows(self, at: int) -> None:
        """A product with constants, a norm and shares; products of two tensors, whole batches and one row."""
        rows, inputs, results = self.one_of(1, 3, 5), self.one_of(7, 8, 12), self.one_of(3, 8, 10)
        self.inputs[f"rows{at}"] = [rows, inputs]
        names = f"rows{at} {self.floats(f'dense_w{at}', inputs, results)} {self.floats(f'dense_b{at}', results)}"
        self.nodes.append(node("Gemm", names, f"dense{at}"))
        scales = f"{self.floats(f'scale{at}', results)} {self.floats(f'offset{at}', results)}"
        self.nodes.append(node("LayerNormalization", f"dense{at} {scales}", f"norm{at}"))
        self.nodes.append(node("Softmax", f"norm{at}", f"shares{at}", axis=-1))
        batch = self.one_of(1, 2)
        self.inputs[f"left{at}"] = [batch, self.one_of(1, 4, 5), inputs]
        self.inputs[f"right{at}"] = [batch, inputs, results]
        self.nodes.append(node("MatMul", f"left{at} right{at}", f"product{at}"))
        self.nodes.append(node("ReduceMean", f"product{at}", f"mean{at}", keepdims=0))

    def recurrent(self, at: int) -> None:
        """An LSTM or a GRU, one way or both."""
        op, gates = (("LSTM", 4), ("GRU", 3))[at % 2]
        directions, inputs, hidden = 1 + at // 2 % 2, self.one_of(3, 5), self.one_of(4, 7)
        self.inputs[f"steps{at}"] = [self.one_of(2, 3), 1, inputs]
        w = self.floats(f"recurrent_w{at}", directions, gates * hidden, inputs)
        r = self.floats(f"recurrent_r{at}", directions, gates * hidden, hidden)
        b = self.floats(f"recurrent_b{at}", directions, 2 * gates * hidden)
        direction = "bidirectional" if directions == 2 else "forward"
        recurrent = node(op, f"steps{at} {w} {r} {b}", f"state{at}", hidden_size=hidden, direction=direction)
        if op == "GRU":
            recurrent.attribute.append(onnx.helper.make_attribute("linear_before_reset", 1))
        self.nodes.append(recurrent)


def float_layers(seed: int) -> onnx.ModelProto:
    """Six convolutions, two pools, two chains of rows and two recurrent layers."""
    drawn = Drawn(seed)
    for at in range(6):
        drawn.convolution(at)
    for at in range(2):
        drawn.pool(at)
        drawn.rows(at)
        drawn.recurrent(at + 2 * (seed % 2))
    read = {name for each in drawn.nodes for name in each.input}
    outputs = [name for each in drawn.nodes for name in each.output if name not in read]
    return onnx_model(drawn.nodes, drawn.inputs, outputs, drawn.constants, opset=20)
