"""A BatchNormalization behind a convolution in codes goes into the scales of its weights and into its bias.

Networks that were quantised in training keep it there. Codes of a channel whose factor is negative change their sign.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, DType, Node
from tilewright.ops.requantize import quantise
from tilewright.passes.quantise.graph import Graph, operand, read_quantisation
from tilewright.passes.quantise.kinds import products

Reals = npt.NDArray[np.float64]


def take_norms_in(graph: Graph) -> None:
    """Fold every one whose numbers are constants."""
    readers, writers = graph.consumers(), graph.producers()
    changed: dict[str, tuple[Node, ...]] = {}
    for node in graph.nodes:
        layer = writers.get(node.inputs[0]) if node.op == "BatchNormalization" and not node.domain else None
        if layer is None or layer.name in changed or len(readers[node.inputs[0]]) != 1:
            continue
        if node.inputs[0] in graph.outputs or len([name for name in node.outputs if name]) != 1:
            continue
        if (made := _joined(graph, node, layer, writers)) is not None:
            changed |= {layer.name: made, node.name: ()}
    graph.nodes = [new for node in graph.nodes for new in changed.get(node.name, (node,))]


def _joined(graph: Graph, node: Node, layer: Node, writers: dict[str, Node]) -> tuple[Node, ...] | None:
    """The weights' DequantizeLinear and the layer with other scales and another bias."""
    fact, weights = products(layer), writers.get(operand(layer, 1))
    numbers = [graph.value(operand(node, index)) for index in range(1, 5)]
    codes = _codes(graph, weights, writers) if weights is not None else None
    if fact is None or not fact.takes_bias or codes is None or any(number is None for number in numbers):
        return None
    gamma, beta, mean, variance = (number.astype(np.float64) for number in numbers if number is not None)
    epsilon = node.attributes.get("epsilon", 1e-5)
    if not isinstance(epsilon, int | float) or (layer.attributes.get("group", 1) != 1 and fact.in_groups and (
        fact.weight_axis(layer, codes[0].ndim) != 0
    )):  # fmt: skip
        return None
    value, scale, dtype = codes
    axis, count = fact.weight_axis(layer, value.ndim), gamma.size
    bias = np.zeros(count) if not operand(layer, 2) else _real(graph, operand(layer, 2), writers)
    factor = gamma / np.sqrt(variance + epsilon)
    if bias is None or bias.size != count or value.shape[axis] != count or scale.size not in (1, count):
        return None
    spread = [-1 if place == axis else 1 for place in range(value.ndim)]
    signed = value.astype(np.int64) * np.where(factor < 0, -1, 1).reshape(spread)
    scales = (np.broadcast_to(scale.reshape(-1), (count,)) * np.abs(factor)).astype(np.float32)
    if not (np.isfinite(scales).all() and (scales > 0).all()) or signed.max(initial=0) > dtype.range[1]:
        return None
    total = ((bias.reshape(-1) - mean) * factor + beta).astype(np.float32)
    held = graph.constant(f"{layer.name}_normalised", signed.astype(dtype.numpy), dtype)
    operands = (held, graph.constant(f"{held}_scale", scales, DType.F32),
                graph.constant(f"{held}_zero_point", np.zeros(count, dtype.numpy), dtype))  # fmt: skip
    real = graph.tensor(f"{held}_real", DType.F32, value.shape)
    offset = graph.constant(f"{layer.name}_offset", total, DType.F32)
    return (
        graph.node(f"{held}_dequantise", "DequantizeLinear", operands, (real,), {"axis": axis}, of=layer),
        replace(layer, inputs=(layer.inputs[0], real, offset), outputs=node.outputs, clamp=node.clamp),
    )


def _codes(graph: Graph, node: Node, writers: dict[str, Node]) -> tuple[Array, Array, DType] | None:
    """Codes, scales and type of constant weights without zero points, whether the file holds codes or floats."""
    meaning = read_quantisation(graph, node) if node.op == "DequantizeLinear" else None
    if meaning is None or any(meaning[0].zero_point):
        return None
    quantisation, dtype = meaning
    value = graph.value(node.inputs[0])
    if value is None and (writer := writers.get(node.inputs[0])) is not None and writer.op == "QuantizeLinear":
        reals = graph.value(writer.inputs[0])
        if reals is None or read_quantisation(graph, writer) != meaning:
            return None
        value = quantise(reals, quantisation, dtype)
    return None if value is None else (value, np.asarray(quantisation.scale), dtype)


def _real(graph: Graph, name: str, writers: dict[str, Node]) -> Reals | None:
    """A constant bias, also one in codes."""
    value, writer = graph.value(name), writers.get(name)
    if value is None and writer is not None and writer.op == "DequantizeLinear":
        codes, scale = graph.value(writer.inputs[0]), graph.value(writer.inputs[1])
        zero = graph.value(operand(writer, 2)) if operand(writer, 2) else None
        if codes is None or scale is None or (zero is not None and zero.any()):
            return None
        return np.asarray(codes.astype(np.float64) * scale.astype(np.float64))
    return None if value is None else value.astype(np.float64)
