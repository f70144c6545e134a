"""The graph as it stands in the file: nodes with untyped tensors, attribute references and nested graphs.

onnx-graphsurgeon imports it; only this module and `cut.py` know that library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tilewright.errors import UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.frontend.values import array_of
from tilewright.model import Array, Attribute, DType

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True)
class Reference:
    """An attribute whose value is the attribute `name` of the function's caller."""

    name: str


@dataclass(frozen=True)
class Value:
    """A constant in the file, with its type (four-bit values come in eight bits)."""

    dtype: DType
    array: Array


@dataclass(frozen=True)
class Body:
    """The inside of a function or the branch of an If.

    `scope` renames what it reads from the graph around it, `arguments` are the attributes of the function around it.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[RawNode, ...]
    constants: Mapping[str, Value]
    defaults: Mapping[str, RawAttribute] = field(default_factory=dict)
    opsets: Mapping[str, int] = field(default_factory=dict)
    scope: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, RawAttribute] = field(default_factory=dict)

    def reads(self) -> set[str]:
        """Every tensor name that something in it reads, in nested graphs too."""
        return {name for body in self._all() for name in (*body.outputs, *(n for x in body.nodes for n in x.inputs))}

    def names(self) -> set[str]:
        """Every tensor name that stands in it, in nested graphs too."""
        written = {name for body in self._all() for node in body.nodes for name in node.outputs}
        return written.union(self.reads(), *((*body.inputs, *body.constants) for body in self._all()))

    def _all(self) -> list[Body]:
        bodies = [self]
        for body in bodies:  # grows while it is walked
            for node in body.nodes:
                bodies += [value for value in node.attributes.values() if isinstance(value, Body)]
        return bodies


RawAttribute = Attribute | Value | Reference | Body


@dataclass(frozen=True)
class RawNode:
    """A node of the file. `opsets` is the version of each domain where it was written.

    `loop` is the outermost Loop that it is a copy out of, and `under` the conditions, from the outside in, that must
    have these values for it to mean anything. `part_of` is the node of the file in whose place it stands.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, RawAttribute] = field(default_factory=dict)
    domain: str = ""
    opsets: Mapping[str, int] = field(default_factory=dict)
    loop: str = ""
    under: tuple[tuple[str, bool], ...] = ()
    part_of: str = ""

    @property
    def version(self) -> int:
        """The version of the node's own domain; 1 for one that is not imported."""
        return self.opsets.get(self.domain, 1)

    @property
    def label(self) -> str:
        """How messages name it: its name, or its operator where it has none."""
        return self.name or self.op

    def part(self, made: RawNode) -> RawNode:
        """What stands in this one's place, with the name of the node of the file, or of its first result."""
        whole = self.part_of or self.name or next(iter(self.outputs), "")
        return made if made.name == whole else replace(made, part_of=whole)

    def where(self) -> str:
        """`node 'name' (Op)`, for messages."""
        return f"node {quoted(self.label)} ({self.op})"

    def with_attributes(self, **changes: RawAttribute | None) -> RawNode:
        """A copy with attributes set, or removed where the value is None."""
        merged = {**self.attributes, **changes}
        return replace(self, attributes={name: value for name, value in merged.items() if value is not None})


def domain_name(domain: str | None) -> str:
    """The default domain is "", also where it is written out."""
    return "" if domain in (None, "ai.onnx") else str(domain)


def import_graph(proto: onnx.ModelProto) -> Body:
    """The top graph without the nodes that no output depends on. The message has been checked by `structure`."""
    import onnx_graphsurgeon as gs
    from onnx_graphsurgeon.logger import G_LOGGER

    with G_LOGGER.suppress():
        graph = gs.import_onnx(proto)
    _keep_needed(graph)
    return _body(graph, _opsets(proto.opset_import))


def import_function(proto: onnx.FunctionProto, opsets: Mapping[str, int]) -> Body:
    """A function; `opsets` are the versions for domains that it does not import itself."""
    from onnx_graphsurgeon.importers.onnx_importer import OnnxImporter
    from onnx_graphsurgeon.logger import G_LOGGER

    with G_LOGGER.suppress():
        function = OnnxImporter.import_function(proto, model_opset=opsets.get("", 1))
    merged = {**opsets, **_opsets(proto.opset_import)}
    defaults = {
        name: _attribute(value, merged, proto.name) for name, value in function.attrs.items() if value is not None
    }
    return replace(_body(function, merged), defaults=defaults)


def _keep_needed(graph: Any) -> None:
    """Drop the nodes that no output depends on, in nested graphs too (the library's own way of it is quadratic)."""
    for inner in graph.subgraphs():
        _keep_needed(inner)
    writers = {tensor.name: index for index, node in enumerate(graph.nodes) for tensor in node.outputs if tensor.name}
    wanted, needed = [tensor.name for tensor in graph.outputs], set[int]()
    while wanted:
        index = writers.get(wanted.pop())
        if index is not None and index not in needed:
            needed.add(index)
            wanted += _read_by(graph.nodes[index])
    graph.nodes = [graph.nodes[index] for index in sorted(needed)]


def _read_by(node: Any) -> list[str]:
    """What a node reads, and what the graphs nested in it read, their own tensors among it."""
    names = [tensor.name for tensor in node.inputs]
    for inner in node.subgraphs():
        names += [tensor.name for tensor in inner.outputs]
        names += [name for each in inner.nodes for name in _read_by(each)]
    return names


def _opsets(imports: Any) -> dict[str, int]:
    return {domain_name(entry.domain): int(entry.version) for entry in imports}


def _body(graph: Any, opsets: Mapping[str, int]) -> Body:
    constants: dict[str, Value] = {}
    nodes = []
    for node in graph.nodes:
        for tensor in node.inputs:
            _note_constant(tensor, constants)
        nodes.append(_node(node, opsets))
    for tensor in graph.outputs:
        _note_constant(tensor, constants)
    names = [tuple(tensor.name for tensor in tensors) for tensors in (graph.inputs, graph.outputs)]
    return Body(names[0], names[1], tuple(nodes), constants, opsets=opsets)


def _note_constant(tensor: Any, constants: dict[str, Value]) -> None:
    import onnx_graphsurgeon as gs

    if isinstance(tensor, gs.Constant) and tensor.name not in constants:
        constants[tensor.name] = Value(*array_of(tensor._values.tensor, tensor.name))


def _node(node: Any, opsets: Mapping[str, int]) -> RawNode:
    attributes = {name: _attribute(value, opsets, node.name or node.op) for name, value in node.attrs.items()}
    inputs, outputs = ([tensor.name for tensor in tensors] for tensors in (node.inputs, node.outputs))
    while inputs and not inputs[-1]:
        inputs.pop()
    domain = domain_name(node.domain)
    return RawNode(node.name, node.op, tuple(inputs), tuple(outputs), attributes, domain, opsets)


def _attribute(value: Any, opsets: Mapping[str, int], label: str) -> RawAttribute:
    import onnx_graphsurgeon as gs

    match value:
        case gs.Node.AttributeRef():
            return Reference(value.name)
        case gs.Graph():
            return _body(value, opsets)
        case gs.Constant():
            return Value(*array_of(value._values.tensor, value.name or f"attribute of {label}"))
        case list():
            return tuple(value)
        case bool() | int() | float() | str():
            return value
    raise UnsupportedNode(
        f"node {quoted(label)}", why=f"it has an attribute of the type {type(value).__name__}", fix="remove it"
    )
