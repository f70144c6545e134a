"""Networks built in code, and what can be asked of any network: order, dependencies, what a node is."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.errors import ModelError, UsageError
from tilewright.model import Array, Attribute, DType, Model, Node, Shape, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import find

OPSET = 21


@dataclass(frozen=True)
class NodeMetadata:
    """What a node is: operator, shape of its first result, attributes, elements of its constant operands."""

    op_type: str
    output_shape: Shape
    attributes: Mapping[str, Attribute]
    parameter_count: int


class GraphBuilder:
    """Collects inputs, parameters and nodes; `build` orders them and infers every shape.

        builder = GraphBuilder()
        x = builder.input("x", (1, 4))
        y = builder.add_node("MatMul", x, builder.parameter("w", weights))
        model = builder.build(y)

    Names may be used before they are made, so a circle is possible; `build` finds it.
    """

    def __init__(self, name: str = "net", opset: int = OPSET) -> None:
        self.name, self.opset = name, opset
        self._inputs: dict[str, Tensor] = {}
        self._constants: dict[str, Array] = {}
        self._nodes: list[Node] = []

    def input(self, name: str, shape: Shape, dtype: DType = DType.F32) -> str:
        """An input of the network."""
        self._inputs[self._new(name)] = Tensor(name, dtype, shape)
        return name

    def parameter(self, name: str, value: Array) -> str:
        """A constant."""
        self._constants[self._new(name)] = np.ascontiguousarray(value).reshape(value.shape)
        return name

    def add_node(self, op: str, *inputs: str, output: str = "", **attributes: Attribute) -> str:
        """A node with one result, whose name is returned."""
        name = self._new(output or f"{op.lower()}_{len(self._nodes)}")
        self._nodes.append(Node(f"node_{name}", op, inputs, (name,), attributes))
        return name

    def parameters(self) -> tuple[str, ...]:
        """Names of the constants, sorted."""
        return tuple(sorted(self._constants))

    def build(self, *outputs: str) -> Model:
        """The network of these outputs; ModelError for a circle, an unknown name or operands that do not fit."""
        made = {*self._inputs, *self._constants, *(node.outputs[0] for node in self._nodes)}
        for name in (*outputs, *(name for node in self._nodes for name in node.inputs if name)):
            if name not in made:
                raise ModelError(
                    f"nothing makes '{name}'", why="no input, parameter or node has that name", tensor=name
                )
        tensors = dict(self._inputs)
        tensors |= {n: Tensor(n, DType.of(v.dtype), v.shape) for n, v in self._constants.items()}
        nodes = _sorted(self._nodes)
        for node in nodes:
            tensors[node.outputs[0]] = self._infer(node, tensors)
        model = Model(self.name, nodes, tensors, self._constants, tuple(self._inputs), outputs, self.opset)
        return model.replace()

    def _infer(self, node: Node, tensors: Mapping[str, Tensor]) -> Tensor:
        operator = find(node.op)
        operands = tuple(tensors[name] if name else None for name in node.inputs)
        constants = {i: self._constants[name] for i, name in enumerate(node.inputs) if name in self._constants}
        call = Call(node, operands, (), constants, self.opset, operator=operator)
        if operator is None:
            raise call.unsupported("the operator is not known")
        kind = operator.infer(call)[0]
        return Tensor(node.outputs[0], kind.dtype, kind.shape)

    def _new(self, name: str) -> str:
        used = {*self._inputs, *self._constants, *(node.outputs[0] for node in self._nodes)}
        if not name or name in used:
            raise UsageError(f"'{name}' cannot name a tensor", why="the name is taken" if name else "it is empty")
        return name


def topological_order(model: Model) -> tuple[Node, ...]:
    """The nodes so that each stands behind those that it reads; the model's order where that is one. ModelError for
    a circle.
    """
    return _sorted(model.nodes)


def dependencies(model: Model) -> dict[str, tuple[str, ...]]:
    """For every node the names of the nodes that it reads, in the order of its operands."""
    makers = model.producers()
    return {
        node.name: tuple(dict.fromkeys(makers[name].name for name in node.inputs if name in makers))
        for node in model.nodes
    }


def node_metadata(model: Model, name: str) -> NodeMetadata:
    """What the node of that name is; UsageError where there is none."""
    node = next((node for node in model.nodes if node.name == name), None)
    if node is None:
        raise UsageError(f"the network has no node '{name}'")
    count = sum(model.constants[operand].size for operand in node.inputs if operand in model.constants)
    return NodeMetadata(node.op, model.tensors[node.outputs[0]].shape, node.attributes, count)


def _sorted(nodes: list[Node] | tuple[Node, ...]) -> tuple[Node, ...]:
    """Kahn's order, earliest first."""
    makers = {name: index for index, node in enumerate(nodes) for name in node.outputs if name}
    waiting = [{makers[name] for name in node.inputs if name in makers} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for index, needed in enumerate(waiting):
        for maker in needed:
            readers[maker].append(index)
    ready = [index for index, needed in enumerate(waiting) if not needed]
    heapq.heapify(ready)
    ordered = []
    while ready:
        index = heapq.heappop(ready)
        ordered.append(nodes[index])
        for reader in readers[index]:
            waiting[reader].discard(index)
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    if len(ordered) < len(nodes):
        done = {node.name for node in ordered}
        circle = ", ".join(node.name for node in nodes if node.name not in done)
        raise ModelError("cycle detected in graph", why=f"these nodes wait for one another: {circle}")
    return tuple(ordered)
