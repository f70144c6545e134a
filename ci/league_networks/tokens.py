"""Transformers, and networks on points and graphs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import onnx
from make_odd import Sketch

from league_networks.parts import activation, encoder, heads, normalised, scalar

OPSET = 20


def transformer() -> onnx.ModelProto:
    """Two blocks of an encoder, 32 tokens of 48 values."""
    net = Sketch("transformer")
    x = net.input("tokens", 1, 32, 48)
    for _ in range(2):
        x = encoder(net, x, 32, 48, "gelu")
    net.output(normalised(net, x, 48), "states")
    return net.finish(OPSET)


def vit() -> onnx.ModelProto:
    """A vision transformer: patches of 8 x 8, a class token, GELU as older exporters write it."""
    net = Sketch("vit")
    x = net.convolution(net.input("image", 1, 3, 40, 40), 3, 48, (8, 8), pads=[0] * 4, strides=[8, 8])
    x = net.node("Transpose", net.node("Reshape", x, net.constant([1, 48, 25])), perm=[0, 2, 1])
    token = net.constant((net.random.integers(-16, 17, (1, 1, 48)) / 64).astype(np.float32))
    places = net.constant((net.random.integers(-16, 17, (1, 26, 48)) / 64).astype(np.float32))
    x = net.node("Add", net.node("Concat", token, x, axis=1), places)
    for _ in range(2):
        x = encoder(net, x, 26, 48, "erf_gelu")
    first = net.node("Gather", normalised(net, x, 48), net.constant(np.array(0)), axis=1)
    net.output(net.dense(first, 48, 10), "scores")
    return net.finish(OPSET)


def bert() -> onnx.ModelProto:
    """Words and a mask of padding: embeddings, blocks whose scores the mask pushes down."""
    net = Sketch("bert")
    words, mask = net.input("words", 1, 24), net.input("mask", 1, 24)
    net.types = {"words": onnx.TensorProto.INT64, "mask": onnx.TensorProto.INT64}
    table = net.constant((net.random.integers(-64, 65, (64, 48)) / 64).astype(np.float32))
    places = net.constant((net.random.integers(-16, 17, (1, 24, 48)) / 64).astype(np.float32))
    x = normalised(net, net.node("Add", net.node("Gather", table, words), places), 48)
    visible = net.node("Cast", net.node("Unsqueeze", mask, net.constant([1, 2])), to=onnx.TensorProto.FLOAT)
    bias = net.node("Mul", net.node("Sub", scalar(net, 1), visible), scalar(net, -10000))
    for _ in range(2):
        x = encoder(net, x, 24, 48, "erf_gelu", bias)
    first = net.node("Gather", x, net.constant(np.array(0)), axis=1)
    net.output(net.dense(net.node("Tanh", net.dense(first, 48, 48)), 48, 4), "classes")
    return net.finish(OPSET)


def gated(net: Sketch, x: str, width: int, inner: int) -> str:
    """A gated feed-forward part: SiLU of one product times another."""
    gate = activation(net, net.node("MatMul", x, net.weight(width, inner, fan_in=width)), "silu")
    product = net.node("Mul", gate, net.node("MatMul", x, net.weight(width, inner, fan_in=width)))
    result: str = net.node("MatMul", product, net.weight(inner, width, fan_in=inner))
    return result


def root_mean(net: Sketch, x: str, width: int) -> str:
    """RMS normalisation as exporters write it."""
    mean = net.node("ReduceMean", net.node("Mul", x, x), net.constant([-1]))
    scaled = net.node("Div", x, net.node("Sqrt", net.node("Add", mean, scalar(net, 1e-5))))
    result: str = net.node("Mul", scaled, net.constant((1 + net.random.integers(-8, 9, width) / 64).astype(np.float32)))
    return result


def rotated(net: Sketch, x: str, tokens: int, size: int) -> str:
    """Rotary positions: halves turned by an angle of the place."""
    angles = np.outer(np.arange(tokens), 100.0 ** (-np.arange(size // 2) / (size // 2)))
    cos, sin = (net.constant(np.tile(f(angles), 2).astype(np.float32)) for f in (np.cos, np.sin))
    first, second = net.node("Split", x, net.constant([size // 2, size // 2]), axis=-1, results=2)
    turned = net.node("Concat", net.node("Neg", second), first, axis=-1)
    result: str = net.node("Add", net.node("Mul", x, cos), net.node("Mul", turned, sin))
    return result


def decoder() -> onnx.ModelProto:
    """A block of Llama over 16 tokens: RMS norms, rotary positions, two heads of keys for four, a causal mask."""
    net = Sketch("decoder")
    x, tokens, width, size = net.input("tokens", 1, 16, 32), 16, 32, 8
    hidden = net.constant(np.triu(np.full((tokens, tokens), -1e4, np.float32), 1))
    for _ in range(2):
        y = root_mean(net, x, width)
        query, key, value = (
            heads(net, net.node("MatMul", y, net.weight(width, count * size, fan_in=width)),
                  (1, tokens, count, size), (0, 2, 1, 3))
            for count in (4, 2, 2)
        )  # fmt: skip
        query, key = rotated(net, query, tokens, size), rotated(net, key, tokens, size)
        key, value = (
            net.node("Reshape", net.node("Expand", net.node("Unsqueeze", part, net.constant([2])),
                                         net.constant([1, 2, 2, tokens, size])), net.constant([1, 4, tokens, size]))
            for part in (key, value)
        )  # fmt: skip
        scores = net.node("MatMul", query, net.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = net.node("Add", net.node("Mul", scores, scalar(net, size**-0.5)), hidden)
        mixed = net.node(
            "Transpose", net.node("MatMul", net.node("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3]
        )
        joined = net.node("Reshape", mixed, net.constant([1, tokens, width]))
        x = net.node("Add", x, net.node("MatMul", joined, net.weight(width, width, fan_in=width)))
        x = net.node("Add", x, gated(net, root_mean(net, x, width), width, 64))
    net.output(net.node("MatMul", root_mean(net, x, width), net.weight(width, 64, fan_in=width)), "logits")
    return net.finish(OPSET)


def point_cloud() -> onnx.ModelProto:
    """PointNet: the same layers on every point, a transform that is learnt, the largest of all points."""
    net = Sketch("point_cloud")
    points = net.input("points", 1, 3, 128)

    def features(x: str, sizes: tuple[int, ...]) -> str:
        for before, after in pairwise(sizes):
            x = net.node("Relu", net.convolution(x, before, after, (1,)))
        return x

    summary = net.node("ReduceMax", features(points, (3, 16, 32)), net.constant([2]), keepdims=0)
    transform = net.node("Reshape", net.dense(summary, 32, 9), net.constant([1, 3, 3]))
    turned = net.node("MatMul", transform, points)
    largest = net.node("ReduceMax", features(turned, (3, 24, 48, 64)), net.constant([2]), keepdims=0)
    net.output(net.dense(net.node("Relu", net.dense(largest, 64, 32)), 32, 10), "shapes")
    return net.finish(OPSET)


def graph_net() -> onnx.ModelProto:
    """Two rounds of messages: what edges start from is gathered and added up at what they lead to."""
    net = Sketch("graph_net")
    x, nodes, edges = net.input("nodes", 40, 16), 40, 120
    start = net.constant(net.random.integers(0, nodes, edges).astype(np.int64))
    ends = np.repeat(net.random.integers(0, nodes, (edges, 1)), 24, axis=1).astype(np.int64)
    for before in (16, 24):
        sent = net.node("Gather", net.dense(x, before, 24), start, axis=0)
        zero = net.constant(np.zeros((nodes, 24), np.float32))
        added = net.node("ScatterElements", zero, net.constant(ends), sent, axis=0, reduction="add")
        x = net.node("Relu", net.node("Add", added, net.dense(x, before, 24)))
    net.output(net.dense(net.node("ReduceMean", x, net.constant([0]), keepdims=1), 24, 5), "classes")
    return net.finish(OPSET)
