"""Quantised layers of random shapes by seed, for everything that must hold on shapes that nobody chose."""

from __future__ import annotations

import numpy as np
from board_layers import Layer, Network
from onnx import helper


def drawn_layers(seed: int, convolutions: int = 24, depthwise: int = 10, dense: int = 6) -> list[Layer]:
    """Convolutions of small and odd windows, depthwise ones, and matrix products of one row or some."""
    random = np.random.default_rng(seed)
    found = [_convolution(random, f"conv{i}", False) for i in range(convolutions)]
    found += [_convolution(random, f"depthwise{i}", True) for i in range(depthwise)]
    for i in range(dense):
        rows, inputs, columns = int(random.choice((1, 1, 1, 3, 6))), int(random.integers(4, 200)), 0
        columns = int(random.integers(2, 65))
        if i % 2:
            inputs, columns = inputs // 4 * 4, columns // 8 * 8 or 8
        found.append(Layer(f"dense{i}", (rows, inputs), (inputs, columns)))
    return found


def _convolution(random: np.random.Generator, name: str, depthwise: bool) -> Layer:
    """One layer; a third of the windows are 3x3 of stride 1, as in most networks."""
    kernel = [int(k) for k in random.choice((1, 1, 2, 3, 3, 3, 5), 2)] if random.random() < 0.5 else [3, 3]
    if random.random() < 0.3 and not depthwise:
        kernel = [1, 1]
    stride = int(random.choice((1, 1, 1, 2)))
    dilation = int(random.choice((1, 1, 1, 1, 2)))
    size = [int(random.integers(dilation * (k - 1) + 3, 22)) for k in kernel]
    channels = int(random.choice((3, 4, 8, 12, 16, 24, 32, 5, 7, 18, 33)))
    outputs = int(random.choice((4, 8, 16, 24, 32, 5, 9, 13, 36)))
    if depthwise:
        channels = outputs = int(random.choice((4, 8, 16, 32, 48, 7, 13, 27)))
        kernel = kernel if kernel != [1, 1] else [3, 3]
    pads = [dilation * (k // 2) for k in kernel] * 2 if random.random() < 0.8 else [0, 0, 0, 0]
    attributes = {"strides": [stride] * 2, "dilations": [dilation] * 2, "pads": pads}
    weights = (outputs, 1 if depthwise else channels, *kernel)
    if depthwise:
        attributes["group"] = channels  # type: ignore[assignment]
    return Layer(name, (1, channels, *size), weights, x_zero=int(random.integers(-128, 128)), attributes=attributes)


def drawn_apart(seed: int, count: int = 24) -> list[Layer]:
    """Depthwise layers with dilated windows, several results of each channel, or one channel; maps as small as the
    window, too."""
    random = np.random.default_rng(seed)
    layers = []
    for i in range(count):
        channels, stride = int(random.choice((1, 1, 4, 5, 8, 13))), 1
        times = int(random.choice((1, 1, 2, 3)))
        kernel, dilation = ([int(v) for v in random.choice(choices, 2)] for choices in ((2, 3, 3, 5), (1, 1, 2, 3, 4)))
        if channels == 1:
            times, stride = int(random.integers(8, 24)), int(random.choice((1, 1, 1, 2)))
            dilation = dilation if stride == 1 else [1, 1]
        pads = [int(random.integers(0, 2 + d * (k - 1))) for k, d in zip(kernel * 2, dilation * 2, strict=True)]
        reach = [d * (k - 1) - pad for k, d, pad in zip(kernel, dilation, pads, strict=False)]
        size = [max(1, beyond + int(random.integers(1, 20))) for beyond in reach]
        attributes = {"dilations": dilation, "pads": pads, "group": channels, "strides": [stride, stride]}
        weights, unsigned = (channels * times, 1, *kernel), bool(random.integers(0, 2))
        zero = int(random.integers(-128, 128))
        x = (1, channels, *size)
        layers.append(Layer(f"apart{i}", x, weights, x_zero=zero, unsigned=unsigned, attributes=attributes))
    return layers


def drawn_network(seed: int) -> Network:
    """The layers of a seed, unconnected, with sums and means of drawn shapes."""
    network = Network(np.random.default_rng(seed))
    for layer in drawn_layers(seed):
        network.add(layer)
    for i in range(3):
        channels, size = 4 * int(network.generator.integers(1, 17)), int(network.generator.integers(2, 15))
        for op in ("Add", "GlobalAveragePool"):
            _real(network, f"{op.lower()}{i}", op, (1, channels, size, size))
    return network


def _real(network: Network, name: str, op: str, shape: tuple[int, ...]) -> None:
    """A float operator between DequantizeLinear and QuantizeLinear."""
    scales = [network.constant(f"{name}_{i}s", np.float32(v)) for i, v in enumerate((0.03598, 0.06811, 0.09547))]
    zeros = [network.constant(f"{name}_{i}z", np.int8(v)) for i, v in enumerate((-76, 34, -128))]
    reals = []
    for i in range(2 if op == "Add" else 1):
        network.inputs[f"{name}_{i}"] = (shape, np.int8)
        names = [f"{name}_{i}", scales[i], zeros[i]]
        network.nodes.append(helper.make_node("DequantizeLinear", names, [f"{name}_{i}r"]))
        reals.append(f"{name}_{i}r")
    network.nodes.append(helper.make_node(op, reals, [f"{name}_real"], name))
    network.nodes.append(helper.make_node("QuantizeLinear", [f"{name}_real", scales[2], zeros[2]], [f"{name}_y"]))
    network.outputs[f"{name}_y"] = np.int8
