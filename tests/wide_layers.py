"""Convolutions and products between codes of 8 and of 16 bits, for the kernels of boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from board_layers import CONVS, DENSE, DEPTHWISE, ODD_CONVS, ODD_DEPTHWISE, Layer, Network
from grouped_layers import GROUPED
from onnx import helper


@dataclass(frozen=True)
class Codes:
    """Types of operand, weights and result; weights of 16 bits stay below 2^9 either way, and unsigned ones have a zero
    point far from their middle.
    """

    x: type
    w: type = np.int8
    y: type = np.int16
    zero_share: float = 0.4
    twos: bool = False

    def zero(self, kind: type) -> int:
        """The zero point of a type."""
        ends = np.iinfo(kind)
        return int(ends.min + self.zero_share * (int(ends.max) - ends.min))


def wide(layers: Sequence[Layer], codes: Codes, prefix: str = "") -> Network:
    """The layers as QuantizeLinear and DequantizeLinear write them, each carried out by itself."""
    network = Network(np.random.default_rng(13), opset=21)
    for layer in layers:
        add(network, replace(layer, name=prefix + layer.name), codes)
    return network


def add(network: Network, layer: Layer, codes: Codes) -> None:
    """One layer; scales are powers of two, so that sums meet halves, where `codes.twos`."""
    n, conv = layer.name, len(layer.w) > 2
    channels = layer.w[0] if conv else layer.w[1]
    depth = int(np.prod(layer.w[1:])) if conv else layer.w[0]
    low, high = (-400, 400) if codes.w is np.int16 else (np.iinfo(codes.w).min, np.iinfo(codes.w).max)
    limit = (
        min(1.0, (1 << 31) / (2.1 * 65536 * depth * max(abs(low), high))) if codes.x in (np.int16, np.uint16) else 1.0
    )
    low, high = int(low * limit), int(high * limit)
    w_zero = 90 if codes.w is np.uint8 else 0
    weights = network.generator.integers(
        low + (w_zero if limit < 1 else 0), high + 1 + (w_zero if limit < 1 else 0), layer.w
    )
    scales = network.generator.uniform(0.5, 1.5, channels) if conv and not codes.twos else np.asarray(0.5)
    spread = float(np.std(np.arange(low, high + 1))) * np.sqrt(depth) * float(np.iinfo(codes.x).max) / 3.0
    y_scale = 2.0 ** round(np.log2(spread / np.iinfo(codes.y).max * 2.0))
    y_scale *= 1.0 if codes.twos else 1.0723

    def dequantised(name: str, scale: np.ndarray, zero: np.ndarray) -> str:
        operands = [name, network.constant(f"{name}_s", scale.astype(np.float32)), network.constant(f"{name}_z", zero)]
        node = helper.make_node("DequantizeLinear", operands, [f"{name}_r"])
        if scale.ndim:
            node.attribute.append(helper.make_attribute("axis", 0))
        network.nodes.append(node)
        return f"{name}_r"

    x = dequantised(f"{n}_x", np.asarray(1.0), np.asarray(codes.zero(codes.x), codes.x))
    w_name = network.constant(f"{n}_w", weights.astype(codes.w))
    w = dequantised(w_name, scales, np.full(scales.shape, w_zero, codes.w))
    operands = [x, w]
    if conv:
        bias = network.constant(f"{n}_b", network.generator.integers(-40000, 40000, channels).astype(np.int32))
        operands.append(
            dequantised(
                bias, np.broadcast_to(scales, (channels,) if scales.ndim else ()), np.zeros(scales.shape, np.int32)
            )
        )
    network.nodes.append(helper.make_node("Conv" if conv else "MatMul", operands, [f"{n}_sum"], n, **layer.attributes))
    ends = [
        network.constant(f"{n}_ys", np.float32(y_scale)),
        network.constant(f"{n}_yz", np.asarray(codes.zero(codes.y), codes.y)),
    ]
    network.nodes.append(helper.make_node("QuantizeLinear", [f"{n}_sum", *ends], [f"{n}_y"]))
    network.inputs[f"{n}_x"] = (layer.x, codes.x)
    network.outputs[f"{n}_y"] = codes.y


WIDE_CONVS = tuple(
    layer for layer in (*CONVS, *ODD_CONVS, *GROUPED) if layer.weights == "random" and not layer.unsigned
)
WIDE_DENSE = tuple(layer for layer in DENSE if layer.weights == "random" and not layer.unsigned)
WIDE_DEPTHWISE = tuple(
    layer for layer in (*DEPTHWISE, *ODD_DEPTHWISE) if layer.weights == "random" and not layer.unsigned
)
SINGLE_CHANNEL = (
    Layer("one_channel", (1, 1, 9, 8), (16, 1, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    Layer("several_results", (1, 8, 7, 6), (16, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 8}),
)
