"""What is a function of one code becomes one table, however many operators and quantisations it is written with.

HardSwish as `Clip(x + 3, 0, 6) * x / 6`, Gelu through Erf, `x * Sigmoid(x)` with a rounding to codes after every step:
the result is computed here for every code, each step in float32 as ONNX says, and becomes a `Lookup`.

From the quantisation of a result the walk leads to the codes that it is made of, and on through the quantisations of
these, the last in order first. Wherever a single tensor of codes is left, everything between it and the result is one
table, if nobody else reads what lies between; the longest such chain is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, DType, Node, Tensor
from tilewright.ops.codes import Converts, Pairwise, Table
from tilewright.ops.operator import Call
from tilewright.ops.registry import codes_of, find
from tilewright.ops.requantize import dequantise, quantise
from tilewright.passes.quantise.graph import Graph, read_quantisation, scalar
from tilewright.passes.quantise.kinds import limits

_MOST_NODES = 32
_WORTH_A_TABLE = 1024
"""Elements from which on one operator with a constant, which has an integer form, pays for 256 bytes of a table."""


@dataclass(frozen=True)
class _Chain:
    """The codes that a result is a function of, and the nodes between them and its quantisation, in no order."""

    root: str
    nodes: tuple[Node, ...]


def make_tables(graph: Graph) -> None:
    """Replace every chain, from the last on."""
    # What a chain takes with it is read inside the chain only, so both views stay right while chains go.
    readers, writers = graph.consumers(), graph.producers()
    order = {node.name: place for place, node in enumerate(graph.nodes)}
    places: dict[str, Node | None] = {}
    for node in reversed(graph.nodes):
        if not _quantises(node) or node.name in places:
            continue
        chain = _chain(graph, node, readers, writers, order)
        if chain is not None and (lookup := _lookup(graph, node, chain, writers)) is not None:
            places |= dict.fromkeys((gone.name for gone in chain.nodes), None)
            places[node.name] = lookup
    nodes = (places.get(node.name, node) for node in graph.nodes)
    graph.nodes = [node for node in nodes if node is not None]


def _quantises(node: Node) -> bool:
    return node.op == "QuantizeLinear" and not node.domain


def _lookup(graph: Graph, last: Node, chain: _Chain, writers: Mapping[str, Node]) -> Node | None:
    """The Lookup that takes the chain's place; None where a step has no constant scale, or no code for every value."""
    meaning = read_quantisation(graph, last)
    result, root = graph.tensors[last.outputs[0]], graph.tensors[chain.root]
    if meaning is None or meaning[0].axis is not None or max(meaning[1].bits, root.dtype.bits) > 8:
        return None
    low, high = root.dtype.range
    values: dict[str, Array] = {chain.root: np.arange(low, high + 1).astype(root.dtype.numpy)}
    table = _value(graph, last.outputs[0], values, writers)
    if table is None or table.shape != (high - low + 1,) or result.shape != root.shape:
        return None
    lookup = graph.node(f"{last.name}_table", "Lookup", (chain.root,), last.outputs, {"table": table}, of=last)
    graph.tensors[result.name] = replace(result, dtype=meaning[1], quantisation=meaning[0])
    return lookup


def _segment(graph: Graph, last: Node, writers: Mapping[str, Node]) -> tuple[dict[str, Node], set[str]] | None:
    """The operators on real numbers before a quantisation, and the codes that they read; None where one is no table."""
    names: dict[str, Node] = {}
    roots: set[str] = set()
    work = [last.inputs[0]]
    while work:
        name = work.pop()
        node = writers.get(name)
        if name in graph.constants and scalar(graph, name) is not None:
            continue
        if node is None or name in graph.outputs:
            return None
        if node.op == "DequantizeLinear" and not node.domain:
            codes = node.inputs[0]
            if codes not in graph.constants:
                roots.add(codes)
            elif scalar(graph, codes) is None:
                return None
            continue
        if not isinstance(codes_of(node), Table | Pairwise) or len(names) >= _MOST_NODES:
            return None
        if node.name not in names:
            names[node.name] = node
            work += [operand for operand in node.inputs if operand]
    return names, roots


def _chain(
    graph: Graph, last: Node, readers: Mapping[str, list[Node]], writers: Mapping[str, Node], order: Mapping[str, int]
) -> _Chain | None:
    """The longest chain that ends in this quantisation; None where none is worth a table."""
    first = _segment(graph, last, writers)
    if first is None:
        return None
    nodes, roots = first
    fixed: set[str] = set()
    best: _Chain | None = None
    while True:
        if len(roots) == 1 and _closed(graph, nodes, last, readers) and _pays(graph, nodes, last):
            best = _Chain(next(iter(roots)), tuple(nodes.values()))
        quantised = [root for root in roots - fixed if root in writers and _quantises(writers[root])]
        if not quantised or len(nodes) >= _MOST_NODES:
            return best
        latest = max(quantised, key=lambda root: order[writers[root].name])
        before = None if latest in graph.outputs else _segment(graph, writers[latest], writers)
        if before is None:
            fixed.add(latest)
            continue
        nodes = {**nodes, **before[0], writers[latest].name: writers[latest]}
        roots = (roots - {latest}) | before[1]


def _closed(graph: Graph, nodes: Mapping[str, Node], last: Node, readers: Mapping[str, list[Node]]) -> bool:
    """Whether what the nodes compute is read by them and by the last quantisation alone."""
    results = [node.outputs[0] for node in nodes.values()]
    while results:
        name = results.pop()
        if name in graph.outputs:
            return False
        for reader in readers[name]:
            if reader.op == "DequantizeLinear" and not reader.domain:
                results.append(reader.outputs[0])
            elif reader.name not in nodes and reader.name != last.name:
                return False
    return True


def _pays(graph: Graph, nodes: Mapping[str, Node], last: Node) -> bool:
    """Whether a table is less work: for several operators, and for one with a constant on many elements.

    One whose first operand is a real constant, as `1 - x`, has no form but this: on any number of elements.
    """
    computing = [node for node in nodes.values() if not _quantises(node)]
    if all(limits(node) for node in computing):
        return False  # one table already, with its clamp
    if len(computing) > 1:
        return True
    if not isinstance(codes_of(computing[0]), Pairwise):
        return False
    real_first = computing[0].inputs[0] in graph.constants
    return real_first or graph.tensors[last.outputs[0]].elements >= _WORTH_A_TABLE


def _value(graph: Graph, name: str, values: dict[str, Array], writers: Mapping[str, Node]) -> Array | None:
    """A tensor for every code of the root, constants as they are; None where a quantisation is not constant."""
    if name in values:
        return values[name]
    if name in graph.constants:
        return graph.constants[name].reshape(())
    node = writers[name]
    operands = [_value(graph, operand, values, writers) if operand else None for operand in node.inputs]
    if any(value is None and operand for value, operand in zip(operands, node.inputs, strict=True)):
        return None
    if isinstance(codes_of(node), Converts):
        meaning, (x, *_) = read_quantisation(graph, node), operands
        if meaning is None or meaning[0].axis is not None or x is None:
            return None
        values[name] = quantise(x, *meaning) if node.op == "QuantizeLinear" else dequantise(x, meaning[0])
        return values[name]
    operator = find(node.op)
    assert operator is not None, node.op
    tensors = tuple(
        None if value is None else Tensor(operand, DType.of(value.dtype), value.shape)
        for operand, value in zip(node.inputs, operands, strict=True)
    )
    shape = np.broadcast_shapes(*(value.shape for value in operands if value is not None))
    output = Tensor(node.outputs[0], DType.F32, shape)
    constants = {i: v for i, v in enumerate(operands) if v is not None and node.inputs[i] in graph.constants}
    with np.errstate(all="ignore"):
        call = Call(node, tensors, (output,), constants, graph.model.opset, operator=operator)
        values[name] = operator.evaluate(call, operands)[0]
    return values[name]
