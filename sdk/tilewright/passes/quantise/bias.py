"""The bias of a quantised sum of products, in units of its accumulator.

An int32 bias whose scale is input scale times weight scale counts accumulator units and is taken as it is. Any other
bias is a real number: it is held in units of 2**-16 of the accumulator (int64), which is nearer to the exact sum than
ONNX Runtime's float32.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tilewright.model import Array, DType, Node, Quantisation
from tilewright.ops.codes import Products
from tilewright.ops.requantize import RESIDUE_BITS, divide_half_even
from tilewright.passes.quantise.graph import Graph

_TOLERANCE = 2.0**-16  # of an output step: what a differing float32 spelling of the scale may move the sum


def channels_of(graph: Graph, node: Node, products: Products, weights: str) -> int:
    """Output channels of a sum of products."""
    shape = graph.tensors[weights].shape
    channels = shape[products.weight_axis(node, len(shape))]
    group = node.attributes.get("group", 1)
    return channels * group if products.in_groups and isinstance(group, int) else channels


def channel_vector(value: Array, channels: int, products: Products) -> Array | None:
    """A bias with one element per channel, however it is shaped; None where it varies along another axis."""
    if value.size == 1:
        return np.full(channels, value.reshape(-1)[0])
    if value.size != channels:
        return None
    if products.result_axis == 1:
        # As an operand it is a vector; as an Add behind the node it has ones behind the channels.
        axes = [axis for axis, size in enumerate(value.shape) if size > 1]
        return value.reshape(-1) if value.ndim == 1 or (channels == 1 or axes == [1]) else None
    return value.reshape(-1) if value.shape[-1] == channels else None


def bias_operand(
    graph: Graph, node: Node, products: Products, operands: tuple[str, str], bias: str, output: Quantisation
) -> str | None:
    """Name of the bias constant of a sum of `operands`; None where it is not one constant per channel."""
    value = graph.value(bias)
    x, w = (graph.tensors[name].quantisation for name in operands)
    if value is None or x is None or w is None:
        return None
    channels = channels_of(graph, node, products, operands[1])
    vector = channel_vector(value, channels, products)
    if vector is None:
        return None
    units = np.float32(x.scale[0]) * np.broadcast_to(np.asarray(w.scale, np.float32), (channels,))
    meaning = graph.tensors[bias].quantisation
    if meaning is None:
        reals = [Fraction(float(element)) for element in vector.astype(np.float32)]
        return _fine(graph, node, reals, units, output)
    scale = np.broadcast_to(np.asarray(meaning.scale, np.float32), (channels,))
    codes = vector.astype(np.int64) - np.broadcast_to(np.asarray(meaning.zero_point, np.int64), (channels,))
    error = np.abs(codes * (scale.astype(np.float64) - units)) / output.scale[0]
    if (error <= _TOLERANCE).all() and np.abs(codes).max(initial=0) < 1 << 31:
        return graph.constant(f"{node.name}_bias", codes, DType.I32)
    reals = [Fraction(int(c)) * Fraction(float(s)) for c, s in zip(codes, scale, strict=True)]
    return _fine(graph, node, reals, units, output)


def coarser(graph: Graph, node: Node, inputs: tuple[str, ...], output: Quantisation) -> tuple[str, ...]:
    """The operands with a real bias of no more fractions of an accumulator than a step of the result can tell.

    Long sums leave 64 bits with all sixteen of them.
    """
    value = graph.value(inputs[2]) if len(inputs) > 2 else None
    x, w = (graph.tensors[name].quantisation for name in inputs[:2])
    if value is None or x is None or w is None or graph.tensors[inputs[2]].dtype is not DType.I64:
        return inputs
    units = np.float64(np.float32(x.scale[0])) * max(w.scale) / output.scale[0]
    bits = next((bits for bits in range(1, RESIDUE_BITS) if units / (2 << bits) <= _TOLERANCE), RESIDUE_BITS)
    left = RESIDUE_BITS - bits
    rounded = divide_half_even(value.astype(np.int64), 1 << left).astype(np.int64) << left
    return (*inputs[:2], graph.constant(f"{node.name}_bias", rounded, DType.I64))


def _fine(graph: Graph, node: Node, reals: list[Fraction], units: Array, output: Quantisation) -> str | None:
    """Real biases as whole accumulators where that is exact enough, else in units of 2**-16."""
    exact = [real / Fraction(float(unit)) for real, unit in zip(reals, units, strict=True)]
    whole = [round(value) for value in exact]
    step = Fraction(output.scale[0])
    errors = [
        abs(value - rounded) * Fraction(float(unit)) / step
        for value, rounded, unit in zip(exact, whole, units, strict=True)
    ]
    if max(errors) <= Fraction(_TOLERANCE) and max(map(abs, whole)) < 1 << 31:
        return graph.constant(f"{node.name}_bias", np.asarray(whole, np.int64), DType.I32)
    fine = [round(value * (1 << RESIDUE_BITS)) for value in exact]
    if max(map(abs, fine)) >= 1 << (31 + RESIDUE_BITS):
        return None
    return graph.constant(f"{node.name}_bias", np.asarray(fine, np.int64), DType.I64)
