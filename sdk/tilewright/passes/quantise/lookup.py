"""Chains of elementwise operators between DequantizeLinear and QuantizeLinear become one table.

HardSwish as `Clip(x + 3, 0, 6) * x / 6`, Gelu through Erf, x * Sigmoid(x): whatever is a function of one code and of
scalar constants is computed here for every code, in float32 as ONNX says, and becomes a `Lookup`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array, DType, Node, Quantisation, Tensor
from tilewright.ops.codes import Pairwise, Table
from tilewright.ops.operator import Call
from tilewright.ops.registry import codes_of, find
from tilewright.ops.requantize import dequantise, quantise
from tilewright.passes.quantise.graph import Graph, read_quantisation, scalar
from tilewright.passes.quantise.kinds import limits

_MOST_NODES = 32


def make_tables(graph: Graph) -> None:
    """Replace every chain of at least two such operators, from the last on."""
    # What a chain takes with it is read inside the chain only, so both views stay right while chains go.
    readers, writers = graph.consumers(), graph.producers()
    places: dict[str, Node | None] = {}
    for node in reversed(graph.nodes):
        if node.op == "QuantizeLinear" and not node.domain and (chain := _chain(graph, node, readers, writers)):
            lookup = _lookup(graph, node, chain, writers[chain[0]])
            if lookup is not None:
                places[node.name] = lookup
                places |= dict.fromkeys((gone.name for gone in chain[1]), None)
    nodes = (places.get(node.name, node) for node in graph.nodes)
    graph.nodes = [node for node in nodes if node is not None]


def _lookup(graph: Graph, quantise_node: Node, chain: tuple[str, list[Node]], source: Node) -> Node | None:
    """The Lookup that takes the chain's place; None where the codes have more than eight bits."""
    found, meaning = read_quantisation(graph, quantise_node), read_quantisation(graph, source)
    if found is None or found[0].axis is not None or found[1].bits > 8:
        return None
    if meaning is None or meaning[0].axis is not None or meaning[1].bits > 8:
        return None
    root, nodes = chain
    table = _table(graph, root, nodes, quantise_node.inputs[0], meaning, found)
    lookup = graph.node(f"{nodes[-1].name}_table", "Lookup", (root,), quantise_node.outputs, {"table": table})
    graph.tensors[quantise_node.outputs[0]] = replace(
        graph.tensors[quantise_node.outputs[0]], dtype=found[1], quantisation=found[0]
    )
    return lookup


def _chain(
    graph: Graph, quantise_node: Node, readers: dict[str, list[Node]], writers: dict[str, Node]
) -> tuple[str, list[Node]] | None:
    """(the one real tensor that the chain reads, its nodes in order); None where there is no such chain."""
    roots: set[str] = set()
    names: dict[str, Node] = {}
    work = [quantise_node.inputs[0]]
    while work:
        name = work.pop()
        node = writers.get(name)
        if name in graph.constants and scalar(graph, name) is not None:
            continue
        if node is None or name in graph.outputs:
            return None
        if node.op == "DequantizeLinear":
            roots.add(name)
            continue
        if not isinstance(codes_of(node), Table | Pairwise) or len(names) >= _MOST_NODES:
            return None
        if node.name not in names:
            names[node.name] = node
            work += [operand for operand in node.inputs if operand]
    inside = {*names, quantise_node.name}
    if len(roots) != 1 or len(names) < 2:
        return None
    if any(reader.name not in inside for node in names.values() for reader in readers[node.outputs[0]]):
        return None
    if all(limits(node) for node in names.values()):
        return None  # one table already, with its clamp
    return roots.pop(), [node for node in graph.nodes if node.name in names]


def _table(
    graph: Graph,
    root: str,
    nodes: list[Node],
    result: str,
    source: tuple[Quantisation, DType],
    target: tuple[Quantisation, DType],
) -> Array:
    """The code of the result for every code of the source, from the lowest."""
    low, high = source[1].range
    codes = np.arange(low, high + 1).astype(source[1].numpy)
    values: dict[str, Array] = {root: dequantise(codes, source[0])}
    for node in nodes:
        operator = find(node.op)
        assert operator is not None, node.op
        operands = [values[name] if name in values else graph.value(name) for name in node.inputs]
        tensors = tuple(
            None if value is None else Tensor(name, DType.of(value.dtype), value.shape)
            for name, value in zip(node.inputs, operands, strict=True)
        )
        output = Tensor(node.outputs[0], DType.F32, codes.shape)
        constants = {i: v for i, v in enumerate(operands) if v is not None and node.inputs[i] in graph.constants}
        with np.errstate(all="ignore"):
            call = Call(node, tensors, (output,), constants, graph.model.opset, operator=operator)
            values[node.outputs[0]] = operator.evaluate(call, operands)[0]
    return quantise(values[result], target[0], target[1])
