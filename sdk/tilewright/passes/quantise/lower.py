"""One lowering from every quantised spelling to operators on quantised tensors.

`lower` takes QDQ, QOperator, QCDQ and QONNX networks; afterwards tensors carry their quantisation, nodes between
quantised tensors compute integers, and QuantizeLinear and DequantizeLinear stand only where float begins or ends.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ieee import ieee
from tilewright.model import Model, Node
from tilewright.passes import coded_attention, half_attention, rows_of_codes
from tilewright.passes.quantise.blocks import keep_blocks
from tilewright.passes.quantise.forms import to_qdq
from tilewright.passes.quantise.fuse import Fusion
from tilewright.passes.quantise.gates import split_gates
from tilewright.passes.quantise.graph import Graph
from tilewright.passes.quantise.hoist import hoist
from tilewright.passes.quantise.kinds import has_quantisation
from tilewright.passes.quantise.lookup import make_tables
from tilewright.passes.quantise.micro import as_the_kernels_do
from tilewright.passes.quantise.norms import take_norms_in


@ieee
def lower(model: Model) -> Model:
    """The network on quantised tensors; a float network and one that is lowered already as they are.

    UnsupportedNode where scales are not constant.
    """
    if any(tensor.quantisation for tensor in model.tensors.values()):
        return model
    model = to_qdq(model)
    model = half_attention.apply(coded_attention.apply(rows_of_codes.apply(model)))
    if not has_quantisation(model):
        return model
    graph = Graph(model)
    if model.numerics == "tflm":
        split_gates(graph)
        as_the_kernels_do(graph)
    keep_blocks(graph)
    take_norms_in(graph)
    hoist(graph)
    if model.numerics == "exact":  # a chain's steps each round in their own way under other contracts
        make_tables(graph)
    Fusion(graph).run()
    _drop_unused(graph)
    _take_names(graph)
    return graph.finish()


def _take_names(graph: Graph) -> None:
    """Codes that no tensor of the file holds get the name of the real one, where that is gone: a file has it too.

    Of several codes of one real tensor, under scales of their own, the first do.
    """
    held = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)} | set(graph.inputs)
    first = {real: code for code, real in reversed(graph.codes_of.items()) if code in held}
    names = {code: real for real, code in first.items() if real not in held}  # an output is, its node writes it
    graph.nodes = [_renaming(node, names) for node in graph.nodes]
    for code, real in names.items():
        graph.tensors[real] = replace(graph.tensors.pop(code), name=real)


def _drop_unused(graph: Graph) -> None:
    """Nodes that nothing reads any more."""
    needed = set(graph.outputs)
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            needed.update(node.inputs)
            nodes.append(node)
    graph.nodes = nodes[::-1]


def integer_border(model: Model) -> Model:
    """The network with codes at its border: a QuantizeLinear of an input and a DequantizeLinear of an output go.

    Inputs and outputs keep their names; their tensors then hold codes.
    """
    graph = Graph(model)
    for name in model.given:
        _take_codes(graph, name)
    for name in model.results:
        _give_codes(graph, name)
    return graph.finish()


def integer_states(model: Model) -> Model:
    """The network with states in codes, where a state is quantised and dequantised with one scale and nothing else."""
    for state in model.states:
        graph = Graph(model)
        _take_codes(graph, state.past)
        _give_codes(graph, state.present)
        past, present = graph.tensors[state.past], graph.tensors[state.present]
        if past.quantisation is not None and (past.dtype, past.quantisation) == (present.dtype, present.quantisation):
            model = graph.finish()
    return model


def _take_codes(graph: Graph, name: str) -> None:
    readers = graph.consumers()[name]
    results = [reader.outputs[0] for reader in readers]
    if not readers or name in graph.outputs or any(reader.op != "QuantizeLinear" for reader in readers):
        return
    codes = [graph.tensors[result] for result in results]
    if codes[0].quantisation is None or any(result in graph.outputs for result in results):
        return
    if any((code.dtype, code.quantisation) != (codes[0].dtype, codes[0].quantisation) for code in codes):
        return
    graph.tensors[name] = replace(codes[0], name=name)
    removed = {reader.name for reader in readers}
    graph.nodes = [_renaming(node, dict.fromkeys(results, name)) for node in graph.nodes if node.name not in removed]


def _give_codes(graph: Graph, name: str) -> None:
    writer = graph.producers().get(name)
    if writer is None or writer.op != "DequantizeLinear" or graph.consumers()[name]:
        return
    code = writer.inputs[0]
    if graph.tensors[code].quantisation is None or code in graph.inputs or code in graph.outputs:
        return
    if code in graph.constants:
        return
    graph.nodes = [_renaming(node, {code: name}) for node in graph.nodes if node.name != writer.name]
    graph.tensors[name] = replace(graph.tensors[code], name=name)


def _renaming(node: Node, names: dict[str, str]) -> Node:
    return replace(
        node,
        inputs=tuple(names.get(name, name) for name in node.inputs),
        outputs=tuple(names.get(name, name) for name in node.outputs),
    )
