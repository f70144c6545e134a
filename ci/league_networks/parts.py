"""Blocks that the drawn networks share: activations, norms, squeeze-and-excite, heads, attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from make_odd import Sketch


def scalar(net: Sketch, value: float) -> str:
    """A constant of no axes."""
    return net.constant(np.array(value, np.float32))


def activation(net: Sketch, x: str, kind: str) -> str:
    """Relu, relu6, hard_swish, hard_sigmoid, sigmoid, tanh, silu, gelu; erf_gelu is what older exporters write."""
    result: str
    if kind == "relu6":
        result = net.node("Clip", x, scalar(net, 0), scalar(net, 6))
    elif kind == "silu":
        result = net.node("Mul", x, net.node("Sigmoid", x))
    elif kind == "erf_gelu":
        inner = net.node("Erf", net.node("Div", x, scalar(net, 2**0.5)))
        product = net.node("Mul", x, net.node("Add", inner, scalar(net, 1)))
        result = net.node("Mul", product, scalar(net, 0.5))
    elif kind == "hard_sigmoid":
        result = net.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)
    else:
        names = {"relu": "Relu", "hard_swish": "HardSwish", "gelu": "Gelu", "sigmoid": "Sigmoid", "tanh": "Tanh"}
        result = net.node(names[kind], x)
    return result


def convolved(
    net: Sketch, x: str, channels: tuple[int, int], kernel: Sequence[int], kind: str = "",
    stride: int = 1, group: int = 1, dilation: int = 1,
) -> str:  # fmt: skip
    """A convolution with bias that keeps the size but for its stride, and an activation where `kind` names one."""
    pads = [dilation * (size - 1) // 2 for size in kernel]
    y = net.convolution(
        x, *channels, kernel, group, pads=pads * 2,
        strides=[stride] * len(kernel), dilations=[dilation] * len(kernel),
    )  # fmt: skip
    return activation(net, y, kind) if kind else y


def squeeze_excite(net: Sketch, x: str, channels: int, inner: int, gate: str) -> str:
    """Channels weighted by what a small network makes of their means."""
    means = net.node("GlobalAveragePool", x)
    weights = convolved(net, means, (channels, inner), (1, 1), "relu")
    result: str = net.node("Mul", x, convolved(net, weights, (inner, channels), (1, 1), gate))
    return result


def classes(net: Sketch, x: str, channels: int, count: int) -> None:
    """Means over all places, and a dense layer: the usual head of a classifier."""
    net.output(net.dense(net.node("Flatten", net.node("GlobalAveragePool", x)), channels, count), "scores")


def normalised(net: Sketch, x: str, size: int) -> str:
    """LayerNormalization over the last axis."""
    scale = net.constant((1 + net.random.integers(-8, 9, size) / 64).astype(np.float32))
    result: str = net.node("LayerNormalization", x, scale, net.bias(size), axis=-1)
    return result


def heads(net: Sketch, x: str, shape: Sequence[int], order: Sequence[int]) -> str:
    """Tokens split into heads."""
    result: str = net.node("Transpose", net.node("Reshape", x, net.constant(list(shape))), perm=list(order))
    return result


def attention(net: Sketch, x: str, tokens: int, width: int, count: int, bias: str = "") -> str:
    """Self-attention with `count` heads; `bias` is added to the scores."""
    shape = (1, tokens, count, width // count)
    query, key, value = (net.dense(x, width, width) for _ in range(3))
    scores = net.node("MatMul", heads(net, query, shape, (0, 2, 1, 3)), heads(net, key, shape, (0, 2, 3, 1)))
    scores = net.node("Mul", scores, scalar(net, (width // count) ** -0.5))
    scores = net.node("Add", scores, bias) if bias else scores
    mixed = net.node("MatMul", net.node("Softmax", scores, axis=-1), heads(net, value, shape, (0, 2, 1, 3)))
    joined = net.node("Reshape", net.node("Transpose", mixed, perm=[0, 2, 1, 3]), net.constant([1, tokens, width]))
    return net.dense(joined, width, width)


def encoder(net: Sketch, x: str, tokens: int, width: int, kind: str, bias: str = "") -> str:
    """A block of a transformer, norms before its parts; four times the width inside."""
    x = net.node("Add", x, attention(net, normalised(net, x, width), tokens, width, 4, bias))
    inner = activation(net, net.dense(normalised(net, x, width), width, 4 * width), kind)
    result: str = net.node("Add", x, net.dense(inner, 4 * width, width))
    return result
