"""Networks on sounds and other series."""

from __future__ import annotations

import numpy as np
import onnx
from make_odd import Sketch

from league_networks.parts import activation, convolved

OPSET = 20


def mean_dense(net: Sketch, x: str, channels: int, count: int) -> None:
    """Means over time and a dense layer."""
    net.output(net.dense(net.node("Flatten", net.node("GlobalAveragePool", x)), channels, count), "scores")


def tcn() -> onnx.ModelProto:
    """Dilated convolutions over time, depthwise and dense, with residuals."""
    net = Sketch("tcn")
    x = convolved(net, net.input("signal", 1, 40, 101), (40, 48), (3,), "relu")
    for dilation in (1, 2, 4, 8):
        y = convolved(net, x, (48, 48), (9,), "relu", group=48, dilation=dilation)
        y = convolved(net, convolved(net, y, (48, 48), (1,), "relu"), (48, 48), (3,), dilation=dilation)
        x = activation(net, net.node("Add", y, x), "relu")
    mean_dense(net, x, 48, 12)
    return net.finish(OPSET)


def wavenet() -> onnx.ModelProto:
    """Gated dilated convolutions, tanh times sigmoid, with skips that are added up."""
    net = Sketch("wavenet")
    x = convolved(net, net.input("signal", 1, 1, 160), (1, 24), (3,))
    total = ""
    for dilation in (1, 2, 4):
        gates = [convolved(net, x, (24, 24), (3,), kind, dilation=dilation) for kind in ("tanh", "sigmoid")]
        y = convolved(net, net.node("Mul", *gates), (24, 24), (1,))
        x, total = net.node("Add", x, y), (net.node("Add", total, y) if total else y)
    net.output(convolved(net, activation(net, total, "relu"), (24, 8), (1,)), "parts")
    return net.finish(OPSET)


def wake_word() -> onnx.ModelProto:
    """MixedNet of a wake word: a first convolution over time, then depthwise ones of several lengths."""
    net = Sketch("wake_word")
    x = net.node("Transpose", net.input("features", 1, 49, 40), perm=[0, 2, 1])
    x = net.node("Relu", net.convolution(x, 40, 30, (3,), pads=[0, 0], strides=[3]))
    size = 16
    for lengths in ((5,), (3, 5), (5,)):
        share = 30 // len(lengths)
        sizes = net.constant([share] * len(lengths))
        parts = net.node("Split", x, sizes, axis=1, results=len(lengths)) if len(lengths) > 1 else [x]
        parts = [
            convolved(net, part, (share, share), (n,), "", 1, share) for part, n in zip(parts, lengths, strict=True)
        ]
        x = net.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
        x = convolved(net, x, (30, 30), (1,), "relu")
    flat = net.node("Reshape", x, net.constant([1, 30 * size]))
    net.output(net.node("Sigmoid", net.dense(flat, 30 * size, 1)), "word")
    return net.finish(OPSET)


def speaker() -> onnx.ModelProto:
    """ECAPA: one-dimensional squeeze-and-excite blocks, means and spreads over time."""
    net = Sketch("speaker")
    x = convolved(net, net.input("features", 1, 24, 80), (24, 48), (5,), "relu")
    for dilation in (2, 3):
        y = convolved(net, convolved(net, x, (48, 48), (1,), "relu"), (48, 48), (3,), "relu", 1, 4, dilation)
        means = net.node("GlobalAveragePool", y)
        gate = convolved(net, convolved(net, means, (48, 12), (1,), "relu"), (12, 48), (1,), "sigmoid")
        x = net.node("Add", x, net.node("Mul", y, gate))
    mean = net.node("ReduceMean", x, net.constant([2]))
    centred = net.node("Sub", x, mean)
    spread = net.node("ReduceMean", net.node("Mul", centred, centred), net.constant([2]))
    both = net.node("Concat", mean, net.node("Sqrt", net.node("Relu", spread)), axis=1)
    net.output(net.dense(net.node("Flatten", both), 96, 32), "voice")
    return net.finish(OPSET)


def recurrent(net: Sketch, x: str, op: str, sizes: tuple[int, int], direction: str) -> tuple[str, str]:
    """LSTM or GRU: every state and the last one."""
    inputs, units = sizes
    gates, both = {"LSTM": 4, "GRU": 3}[op], 2 if direction == "bidirectional" else 1
    weights = [net.weight(both, gates * units, size, fan_in=size) for size in (inputs, units)]
    bias = net.constant((net.random.integers(-16, 17, (both, 2 * gates * units)) / 64).astype(np.float32))
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    every, last = net.node(op, x, *weights, bias, results=2, hidden_size=units, direction=direction, **more)
    return every, last


def lstm() -> onnx.ModelProto:
    """An LSTM of 48 units over 25 frames."""
    net = Sketch("lstm")
    _, last = recurrent(net, net.input("frames", 25, 1, 40), "LSTM", (40, 48), "forward")
    net.output(net.dense(net.node("Reshape", last, net.constant([1, 48])), 48, 12), "words")
    return net.finish(OPSET)


def gru() -> onnx.ModelProto:
    """A GRU of 32 units in both directions."""
    net = Sketch("gru")
    every, _ = recurrent(net, net.input("frames", 25, 1, 24), "GRU", (24, 32), "bidirectional")
    flat = net.node("Reshape", net.node("Transpose", every, perm=[0, 2, 1, 3]), net.constant([25, 64]))
    net.output(net.node("Softmax", net.dense(flat, 64, 10), axis=-1), "letters")
    return net.finish(OPSET)


def reading() -> onnx.ModelProto:
    """CRNN: convolutions read a line of text, a GRU reads along it."""
    net = Sketch("reading")
    x = net.input("line", 1, 1, 16, 64)
    for before, after in ((1, 12), (12, 24)):
        x = convolved(net, x, (before, after), (3, 3), "relu")
        x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Reshape", net.node("Transpose", x, perm=[3, 0, 1, 2]), net.constant([16, 1, 96]))
    every, _ = recurrent(net, x, "GRU", (96, 32), "forward")
    net.output(net.dense(net.node("Reshape", every, net.constant([16, 32])), 32, 20), "letters")
    return net.finish(OPSET)
