"""Which operands of an operator are known as codes and suit its integer form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.model import Array, DType, Node, Quantisation
from tilewright.ops.codes import Interpolates, Mean, Normalises, Pairwise, Products
from tilewright.ops.quantised.linear import sums_fit, wraps
from tilewright.ops.quantised.normalised import has_normalised_form
from tilewright.ops.quantised.resize import resize_form
from tilewright.ops.quantised.twice_elements import WIDE
from tilewright.ops.registry import call_of, codes_of
from tilewright.ops.requantize import dequantise
from tilewright.passes.quantise.bias import bias_operand, coarser
from tilewright.passes.quantise.graph import Graph, operand, scalar
from tilewright.passes.quantise.tail import Tail

Codes = Mapping[str, str]


def code_operands(graph: Graph, codes: Codes, node: Node, tail: Tail) -> tuple[str, ...] | None:
    """The operands as codes; None where one of them is not known as codes or does not suit the operator."""
    code, fact = codes.get(node.inputs[0]), codes_of(node)
    if isinstance(fact, Pairwise):
        return _pair(graph, codes, node)
    if code is None or (tail.bias and not isinstance(fact, Products)):
        return None
    tensor = graph.tensors[code]
    if tensor.quantisation is None or tensor.quantisation.axis is not None or tensor.dtype.bits > 16:
        return None
    if isinstance(fact, Products):
        return _linear(graph, codes, node, fact, code, tail)
    if isinstance(fact, Mean | Interpolates) and not _has_multipliers(tensor.quantisation, (1.0,), tail):
        return None
    if isinstance(fact, Mean):
        return (code, *node.inputs[1:])
    if isinstance(fact, Interpolates):
        return (code, *node.inputs[1:]) if _interpolates_inside(graph, node, code) else None
    if isinstance(fact, Normalises):
        return _normalised(graph, codes, node, code, tail)
    others = node.inputs[1:]
    narrow = tensor.dtype.bits <= 8 or (tail.quantisation.numerics == "tflm" and node.op in WIDE)
    if not narrow or any(name and scalar(graph, name) is None for name in others):
        return None
    return (code, *others)


def whose_sums_fit(graph: Graph, node: Node, inputs: tuple[str, ...], tail: Tail) -> tuple[str, ...] | None:
    """The operands of a sum of products, with fewer fractions of a real bias where that helps; None where integers
    cannot hold the sums (activations of 16 bits in a long one): they stay real numbers."""
    if _holds_sums(graph, node, inputs, tail):
        return inputs
    rounded = coarser(graph, node, inputs, tail.quantisation)
    return rounded if rounded != inputs and _holds_sums(graph, node, rounded, tail) else None


def _holds_sums(graph: Graph, node: Node, inputs: tuple[str, ...], tail: Tail) -> bool:
    tensors = tuple(graph.tensors[name] for name in inputs)
    constants = {i: graph.constants[name] for i, name in enumerate(inputs) if name in graph.constants}
    result = replace(graph.tensors[node.outputs[0]], dtype=tail.dtype, quantisation=tail.quantisation)
    call = call_of(node, tensors, (result,), constants, graph.model.opset)
    return sums_fit(call) or wraps(call)


def _has_multipliers(source: Quantisation, weights: Sequence[float], tail: Tail) -> bool:
    """True where float32 holds the products and ratios of these scales; where it does not, the node stays float."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        product = np.float32(source.scale[0]) * np.asarray(weights, np.float32)
        ratio = product / np.float32(tail.quantisation.scale[0])
    return bool(np.isfinite(ratio).all() and (ratio > 0).all())


def _interpolates_inside(graph: Graph, node: Node, code: str) -> bool:
    """True for a Resize that interpolates and reads nothing outside of its operand; nearest neighbours are a move."""
    inputs = (graph.tensors[code], *(graph.tensors[name] if name else None for name in node.inputs[1:]))
    constants = {i: graph.constants[name] for i, name in enumerate(node.inputs) if i and name in graph.constants}
    call = call_of(node, inputs, (graph.tensors[node.outputs[0]],), constants, graph.model.opset)
    return resize_form(call) is not None


def _normalised(graph: Graph, codes: Codes, node: Node, code: str, tail: Tail) -> tuple[str, ...] | None:
    """A normalisation whose factors and addends are constants, as real numbers."""
    values = {place: _real(graph, codes, name) for place, name in enumerate(node.inputs[1:], 1) if name}
    constants = {place: value for place, value in values.items() if value is not None}
    if len(constants) < len(values):
        return None
    y = replace(graph.tensors[node.outputs[0]], dtype=tail.dtype, quantisation=tail.quantisation)
    tensors = (graph.tensors[name] if name else None for name in node.inputs[1:])
    if not has_normalised_form(call_of(node, (graph.tensors[code], *tensors), (y,), constants, graph.model.opset)):
        return None
    names = (
        name if not name or name in graph.constants else graph.constant(f"{name}_value", constants[place], DType.F32)
        for place, name in enumerate(node.inputs[1:], 1)
    )
    return (code, *names)


def _real(graph: Graph, codes: Codes, name: str) -> Array | None:
    """The real numbers of a constant, also of one in codes."""
    code = codes.get(name, "")
    meaning = graph.tensors[code].quantisation if code in graph.constants else None
    return graph.value(name) if meaning is None else dequantise(graph.constants[code], meaning)


def _pair(graph: Graph, codes: Codes, node: Node) -> tuple[str, ...] | None:
    inputs = []
    for name in node.inputs:
        code = codes.get(name)
        quantisation = graph.tensors[code].quantisation if code else None
        if code is not None and quantisation is not None and quantisation.axis is None:
            inputs.append(code)
        elif scalar(graph, name) is not None and graph.tensors[name].dtype is DType.F32:
            inputs.append(name)
        else:
            return None
    return tuple(inputs) if any(name in codes for name in node.inputs) else None


def _linear(
    graph: Graph, codes: Codes, node: Node, products: Products, code: str, tail: Tail
) -> tuple[str, ...] | None:
    weights = codes.get(node.inputs[1])
    if weights is None or not _weights_suit(graph, node, products, weights):
        return None
    source, scales = (graph.tensors[name].quantisation for name in (code, weights))
    if source is None or scales is None or not _has_multipliers(source, scales.scale, tail):
        return None
    given = operand(node, 2)
    if products.factors is not None:
        factors = [node.attributes.get(name, 1.0) for name in products.factors]
        if factors[0] != 1.0 or (given and factors[1] != 1.0):
            return None
    if given and tail.bias:
        return None
    bias = given or tail.bias
    if not bias:
        return code, weights
    constant = bias_operand(graph, node, products, (code, weights), codes.get(bias, bias), tail.quantisation)
    return None if constant is None else (code, weights, constant)


def _weights_suit(graph: Graph, node: Node, products: Products, weights: str) -> bool:
    """One scale, or one per output channel."""
    tensor = graph.tensors[weights]
    if tensor.quantisation is None or tensor.dtype.bits > 16:
        return False
    axis = tensor.quantisation.axis
    if axis not in (None, products.weight_axis(node, len(tensor.shape))):
        return False
    return not products.in_groups or axis is None or node.attributes.get("group", 1) == 1
