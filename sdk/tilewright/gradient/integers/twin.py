"""The float network of which a network on codes is the quantised one: weights as they are rounded, nothing limited."""

from __future__ import annotations

from dataclasses import replace

from tilewright.errors import UnsupportedError
from tilewright.frontend.names import quoted
from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.ops.codes import Pairwise, Products
from tilewright.ops.registry import call_of, codes_of
from tilewright.ops.requantize import dequantise, quantise
from tilewright.passes import dead
from tilewright.passes.quantise.forms import to_qdq
from tilewright.passes.quantise.graph import Graph, read_quantisation


def in_floats(model: Model) -> Model:
    """The same layers on real numbers, with the names of the file; UnsupportedError where an operator has none."""
    graph = Graph(to_qdq(model))
    made = _Twin(graph)
    for node in graph.nodes:
        made.visit(node)
    outputs = tuple(made.real.get(name, name) for name in graph.outputs)
    constants = {**graph.constants, **made.constants}
    tensors = {
        **graph.tensors,
        **{name: Tensor(name, DType.F32, value.shape) for name, value in made.constants.items()},
    }
    plain = graph.model.replace(nodes=tuple(made.nodes), tensors=tensors, constants=constants, outputs=outputs)
    return dead.apply(replace(_typed(plain), quantisation_form=""))


CODES = (DType.I8, DType.U8, DType.I16, DType.U16)


class _Twin:
    """What becomes of the nodes, one after the other: `real` names the real tensor of codes and of what they become."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Node] = []
        self.real: dict[str, str] = {}
        self.constants: dict[str, Array] = {}

    def visit(self, node: Node) -> None:
        """Take a node over, or leave it out where it stands between reals and codes."""
        plain = not node.domain
        if plain and node.op == "QuantizeLinear":
            self._quantise(node)
        elif plain and node.op == "DequantizeLinear" and self._is_real(node.inputs[0]):
            self._dequantise(node)
        else:
            if self.real.keys() & set(node.inputs):
                self.real |= {name: name for name in node.outputs if name and self.graph.tensors[name].dtype in CODES}
            self.nodes.append(replace(node, inputs=tuple(self.real.get(name, name) for name in node.inputs)))

    def _is_real(self, codes: str) -> bool:
        """True for what is no code any more, and for constants; not for codes that are the network's own input."""
        return codes in self.real or self.graph.value(codes) is not None

    def _quantise(self, node: Node) -> None:
        source = self.real.get(node.inputs[0], node.inputs[0])
        value, meaning = self.graph.value(source), read_quantisation(self.graph, node)
        if value is not None and meaning is not None:
            self.constants[source] = dequantise(quantise(value, *meaning), meaning[0])
        self.real[node.outputs[0]] = self._rectified(source, node)

    def _rectified(self, source: str, node: Node) -> str:
        """What codes that begin at zero make of sums: quantisers leave out the Relu that stood there."""
        meaning = read_quantisation(self.graph, node)
        writer = next((one for one in self.nodes if source in one.outputs), None)
        if meaning is None or writer is None or set(meaning[0].zero_point) != {meaning[1].range[0]}:
            return source
        if not isinstance(codes_of(writer), Products | Pairwise):
            return source
        name = self.graph.tensor(f"{source}_rectified", DType.F32, self.graph.tensors[source].shape)
        self.nodes.append(self.graph.node(f"{source}_relu", "Relu", (source,), (name,)))
        return name

    def _dequantise(self, node: Node) -> None:
        source = self.real.get(node.inputs[0], node.inputs[0])
        value, meaning = self.graph.value(node.inputs[0]), read_quantisation(self.graph, node)
        if value is not None and source not in self.constants:
            if meaning is None:
                self.nodes.append(node)
                return
            self.constants[source] = dequantise(value, meaning[0])
        self.real[node.outputs[0]] = source


def _typed(model: Model) -> Model:
    """The network with the types and shapes that its operators infer: what moved codes moves floats."""
    tensors = dict(model.tensors)
    for node in model.nodes:
        inputs = [tensors[name] if name else None for name in node.inputs]
        known = {at: model.constants[name] for at, name in enumerate(node.inputs) if name in model.constants}
        call = call_of(node, inputs, [tensors[name] for name in node.outputs if name], known, model.opset)
        if call.operator is None:
            raise UnsupportedError(f"node {quoted(node.name)} ({node.op}) has no meaning in floats")
        for name, kind in zip(node.outputs, call.operator.infer(call), strict=False):
            if name:
                tensors[name] = Tensor(name, kind.dtype, kind.shape)
    return model.replace(tensors=tensors)
