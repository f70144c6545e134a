"""Moves QuantizeLinear up through operators that only move values, next to the operator that computes them.

`conv -> MaxPool -> Q` becomes `conv -> Q -> DQ -> MaxPool -> Q`: selecting and rounding commute, and rounding what is
rounded already changes nothing. Afterwards every operator that can compute codes has its own Q behind it.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.model import DType, Node
from tilewright.passes.quantise.graph import Graph, read_quantisation
from tilewright.passes.quantise.kinds import moves, pads_with_zero


def hoist(graph: Graph) -> None:
    """Insert the pairs until nothing changes; every step moves one of them towards the inputs."""
    while _one_round(graph):
        pass


def _one_round(graph: Graph) -> bool:
    readers, writers = graph.consumers(), graph.producers()
    before: dict[str, list[Node]] = {}
    changed: dict[str, Node] = {}
    for quantise in graph.nodes:
        if quantise.op != "QuantizeLinear":
            continue
        move = writers.get(quantise.inputs[0])
        if move is None or moves(move) is None or not pads_with_zero(graph, move) or move.name in changed:
            continue
        quantisation = read_quantisation(graph, quantise)
        if (
            quantisation is None
            or quantisation[0].axis is not None
            or len([name for name in move.outputs if name]) != 1
        ):
            continue
        if quantise.inputs[0] in graph.outputs or not _all_alike(graph, readers[quantise.inputs[0]], quantise):
            continue
        pairs = _pairs(graph, move, quantise, writers)
        if pairs:
            before[move.name], changed[move.name] = pairs
    graph.nodes = [new for node in graph.nodes for new in (*before.get(node.name, ()), changed.get(node.name, node))]
    return bool(changed)


def _all_alike(graph: Graph, readers: list[Node], quantise: Node) -> bool:
    quantisation = read_quantisation(graph, quantise)
    return all(node.op == "QuantizeLinear" and read_quantisation(graph, node) == quantisation for node in readers)


def _pairs(graph: Graph, move: Node, quantise: Node, writers: dict[str, Node]) -> tuple[list[Node], Node] | None:
    """The Q and DQ for every real operand that has none yet, and the move that reads them."""
    nodes, inputs, moved = [], list(move.inputs), moves(move)
    assert moved is not None, move.op
    for index in moved.data_of(move):
        name = inputs[index]
        source = writers.get(name)
        tensor = graph.tensors[name]
        if tensor.dtype is not DType.F32 or (source is not None and source.op == "DequantizeLinear"):
            continue
        if name in graph.constants:
            continue
        code = graph.codes(name, graph.tensors[quantise.outputs[0]].dtype)
        real = graph.tensor(f"{name}_rounded", DType.F32, tensor.shape)
        operands = quantise.inputs[1:]
        nodes.append(graph.node(f"{move.name}_quantise", "QuantizeLinear", (name, *operands), (code,),
                                quantise.attributes, of=quantise))  # fmt: skip
        nodes.append(graph.node(f"{move.name}_dequantise", "DequantizeLinear", (code, *operands), (real,), of=quantise))
        inputs[index] = real
    if not nodes:
        return None
    return nodes, replace(move, inputs=tuple(inputs))
