"""What stands between an operator and its QuantizeLinear: activations that become a clamp, the bias of a MatMul."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

from tilewright.model import Clamp, DType, Node, Quantisation
from tilewright.passes.quantise.graph import Graph, operand, read_quantisation, scalar
from tilewright.passes.quantise.kinds import limits, products


@dataclass(frozen=True)
class Tail:
    """The nodes behind an operator that its quantised form takes over.

    `targets` are the results of its QuantizeLinear nodes, all alike; `bias` is the constant that an Add adds.
    """

    nodes: frozenset[str]
    targets: tuple[str, ...]
    quantisation: Quantisation
    dtype: DType
    clamp: Clamp | None
    bias: str = ""


def find_tail(graph: Graph, readers: dict[str, list[Node]], node: Node) -> Tail | None:
    """The tail of an operator; None where its result goes anywhere but into one kind of QuantizeLinear."""
    name, clamp, bias, taken = node.outputs[0], node.clamp, "", set[str]()
    if len([output for output in node.outputs if output]) != 1:
        return None
    while True:
        behind = readers.get(name, [])
        if not behind or name in graph.outputs:
            return None
        if all(reader.op == "QuantizeLinear" and not reader.domain for reader in behind):
            return _quantised(graph, behind, clamp, bias, taken)
        if len(behind) != 1:
            return None
        reader = behind[0]
        if limits(reader) and reader.inputs[0] == name:
            limit = _limits(graph, reader)
            if limit is None:
                return None
            clamp = limit if clamp is None else compose(clamp, limit)
        elif reader.op == "Add" and products(node) is not None and clamp is None and not bias:
            bias = _bias(graph, reader, name)
            if not bias or (len(node.inputs) > 2 and node.inputs[2]):
                return None
        else:
            return None
        taken.add(reader.name)
        name = reader.outputs[0]


def _quantised(graph: Graph, nodes: list[Node], clamp: Clamp | None, bias: str, taken: set[str]) -> Tail | None:
    meanings = [read_quantisation(graph, node) for node in nodes]
    first = meanings[0]
    if first is None or first[0].axis is not None or any(other != first for other in meanings) or first[1].bits > 16:
        return None
    names = frozenset(taken | {node.name for node in nodes})
    return Tail(names, tuple(node.outputs[0] for node in nodes), first[0], first[1], clamp, bias)


def compose(first: Clamp, then: Clamp) -> Clamp:
    """The clamp that does `first` and `then` one after the other."""

    def limited(value: float) -> float:
        return min(max(value, then.low), then.high)

    return Clamp(limited(first.low), limited(first.high))


def _limits(graph: Graph, node: Node) -> Clamp | None:
    if node.op == "Relu":
        return Clamp(0.0, inf)
    limits = []
    for index, attribute, missing in ((1, "min", -inf), (2, "max", inf)):
        name = operand(node, index)
        value = scalar(graph, name) if name else node.attributes.get(attribute, missing)
        if not isinstance(value, int | float):
            return None
        limits.append(missing if isnan(value) else float(value))
    return Clamp(min(limits[0], limits[1]), limits[1])


def _bias(graph: Graph, node: Node, name: str) -> str:
    """The constant operand of an Add: an initialiser, or the result of a DequantizeLinear of one."""
    others = [other for other in node.inputs if other != name]
    if len(others) != 1:
        return ""
    if others[0] in graph.constants:
        return others[0]
    writer = graph.producers().get(others[0])
    if writer is not None and writer.op == "DequantizeLinear" and writer.inputs[0] in graph.constants:
        return others[0]
    return ""
