"""Streaming networks with random weights: a keyword spotter of LSTM cells, a TCN, and causal networks drawn by seed.

What lives from call to call is named as exporters name it: h0 and hn, cache_N and cache_N_out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEATURES, HIDDEN, KEYWORDS = 10, 12, 5


class _Network:
    """Nodes, constants, inputs and outputs as they come."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.values: dict[str, np.ndarray[Any, Any]] = {}
        self.inputs: dict[str, Sequence[int]] = {}
        self.outputs: dict[str, Sequence[int]] = {}

    def constant(self, values: object) -> str:
        """Numbers as they are."""
        name = f"c{len(self.values)}"
        self.values[name] = np.asarray(values)
        return name

    def weights(self, *shape: int) -> str:
        """Random numbers whose products stay near one."""
        return self.constant((self.draw.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))

    def add(self, op: str, *inputs: str, outputs: Sequence[str] = (), **attributes: Any) -> str:
        """A node; the name of its first result."""
        name = f"n{len(self.nodes)}"
        made = list(outputs) or [name]
        self.nodes.append(helper.make_node(op, inputs, made, name, **attributes))
        return made[0]

    def model(self, name: str) -> onnx.ModelProto:
        """All of it."""
        inputs, outputs = (
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in some.items()]
            for some in (self.inputs, self.outputs)
        )
        constants = [numpy_helper.from_array(value, n) for n, value in self.values.items()]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def window(self, x: str, channels: int, frames: int, form: str) -> str:
        """The last `frames` frames before this one and this one, one state; `form` is how it is written down."""
        past, axis = f"cache_{len(self.inputs)}", 2
        self.inputs[past] = self.outputs[f"{past}_out"] = (1, channels, frames)
        ends = {word: self.constant([value]) for word, value in {"one": 1, "last": 1 << 30, "axis": axis}.items()}
        joined = self.add("Concat", past, x, axis=axis)
        if form == "cut first":
            left = self.add("Slice", past, ends["one"], ends["last"], ends["axis"])
            self.add("Concat", left, x, outputs=[f"{past}_out"], axis=axis)
        elif form == "padded":
            left = self.add("Slice", past, ends["one"], ends["last"], ends["axis"])
            wide = self.add("Pad", left, self.constant([0, 0, 0, 0, 0, 1]))
            places = [[0, c, frames - 1] for c in range(channels)]
            flat = self.add("Reshape", x, self.constant([channels]))
            self.add("ScatterND", wide, self.constant(places), flat, outputs=[f"{past}_out"])
        else:
            self.add("Slice", joined, ends["one"], ends["last"], ends["axis"], outputs=[f"{past}_out"])
        return joined

    def causal(self, x: str, channels: int, made: int, taps: int, dilation: int, form: str, group: int = 1) -> str:
        """A convolution over this frame and those before it."""
        joined = self.window(x, channels, (taps - 1) * dilation, form)
        weights = self.weights(made, channels // group, taps)
        return self.add("Conv", joined, weights, dilations=[dilation], group=group)


def keyword_spotter() -> onnx.ModelProto:
    """One frame through two LSTM layers of h and c, and a classifier."""
    net = _Network(1)
    net.inputs["frame"] = (1, 1, FEATURES)
    x, size = "frame", FEATURES
    for layer in (1, 2):
        for gate in ("h", "c"):
            net.inputs[f"{gate}{layer}_in"] = net.outputs[f"{gate}{layer}_out"] = (1, 1, HIDDEN)
        operands = (net.weights(1, 4 * HIDDEN, size), net.weights(1, 4 * HIDDEN, HIDDEN), net.weights(1, 8 * HIDDEN))
        made = [f"y{layer}", f"h{layer}_out", f"c{layer}_out"]
        net.add("LSTM", x, *operands, "", f"h{layer}_in", f"c{layer}_in", outputs=made, hidden_size=HIDDEN)
        x, size = net.add("Squeeze", made[0], net.constant([1])), HIDDEN
    flat = net.add("Reshape", x, net.constant([1, HIDDEN]))
    logits = net.add("Gemm", flat, net.weights(HIDDEN, KEYWORDS), net.weights(KEYWORDS))
    net.outputs = {net.add("Softmax", logits, outputs=["keywords"]): (1, KEYWORDS), **net.outputs}
    return net.model("keyword_spotter")


def tcn() -> onnx.ModelProto:
    """Four residual blocks of a depthwise causal convolution, each over twice the time, and a pointwise one."""
    net, channels = _Network(2), 8
    net.inputs["frame"] = (1, channels, 1)
    x = "frame"
    for block in range(4):
        spread = net.causal(x, channels, channels, 3, 1 << block, "joined first", group=channels)
        mixed = net.add("Relu", net.add("Conv", net.add("Relu", spread), net.weights(channels, channels, 1)))
        x = net.add("Add", x, mixed)
    net.outputs = {net.add("Tanh", x, outputs=["y"]): (1, channels, 1), **net.outputs}
    return net.model("tcn")


def causal(seed: int) -> onnx.ModelProto:
    """Some causal convolutions, written down in one of three ways, among other layers."""
    net = _Network(100 + seed)
    channels = int(net.draw.integers(1, 7))
    net.inputs["frame"] = (1, channels, 1)
    x = "frame"
    for _ in range(int(net.draw.integers(2, 5))):
        made, taps, dilation = (int(net.draw.integers(low, high)) for low, high in ((1, 9), (2, 5), (1, 5)))
        form = str(net.draw.choice(["joined first", "cut first", "padded"]))
        x, channels = net.causal(x, channels, made, taps, dilation, form), made
        x = net.add(str(net.draw.choice(["Relu", "Tanh", "Sigmoid", "Neg"])), x)
        if net.draw.random() < 0.3:
            kept = f"h_{len(net.inputs)}"
            net.inputs[kept] = net.outputs[f"{kept}_out"] = (1, channels, 1)
            half = net.add("Mul", kept, net.constant(np.array([0.5], np.float32)))
            x = net.add("Add", half, x, outputs=[f"{kept}_out"])
    net.outputs = {net.add("Neg", x, outputs=["y"]): (1, channels, 1), **net.outputs}
    return net.model(f"causal_{seed}")


NAMED: Mapping[str, onnx.ModelProto] = {"keyword_spotter": keyword_spotter(), "tcn": tcn()}
