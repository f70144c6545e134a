"""The initialisers of a message, taken out of it, so that checker and importer handle the bare graph only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.frontend.raw import Value
from tilewright.frontend.sparse import densify
from tilewright.frontend.structure import nodes_within
from tilewright.frontend.values import ONNX_TYPE, array_of
from tilewright.model import Tensor

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True)
class Stored:
    """The initialisers by name, still packed."""

    dense: Mapping[str, onnx.TensorProto]
    sparse: Mapping[str, onnx.SparseTensorProto]

    def __contains__(self, name: str) -> bool:
        return name in self.dense or name in self.sparse

    def unpack(self, name: str, file: str) -> Value:
        """Type and value of one of them; ModelError where it is damaged."""
        if name in self.dense:
            return Value(*array_of(self.dense[name], name, file))
        return Value(*densify(self.sparse[name], name, file))

    def without(self, names: Collection[str]) -> Stored:
        """The others."""
        return Stored(
            {name: tensor for name, tensor in self.dense.items() if name not in names},
            {name: tensor for name, tensor in self.sparse.items() if name not in names},
        )

    def types(self) -> list[tuple[str, int, Sequence[int]]]:
        """Name, TensorProto.DataType and dimensions of each."""
        dense = [(name, tensor.data_type, tensor.dims) for name, tensor in self.dense.items()]
        return dense + [(name, tensor.values.data_type, tensor.dims) for name, tensor in self.sparse.items()]


def take_out(proto: onnx.ModelProto) -> Stored:
    """Take the initialisers out of the message."""
    graph = proto.graph
    dense = {tensor.name: tensor for tensor in graph.initializer}
    sparse = {tensor.values.name: tensor for tensor in graph.sparse_initializer}
    del graph.initializer[:], graph.sparse_initializer[:]
    return Stored(dense, sparse)


def retype_inputs(proto: onnx.ModelProto, inputs: Iterable[Tensor], stored: Stored) -> None:
    """Give the graph's inputs their settled shapes, declare the initialisers as inputs, and forget outputs' types."""
    graph = proto.graph
    graph.name = graph.name or "graph"
    del graph.input[:]
    types = [(tensor.name, ONNX_TYPE[tensor.dtype], tensor.shape) for tensor in inputs]
    for name, number, shape in (*types, *stored.types()):
        value = graph.input.add()
        value.name = name
        value.type.tensor_type.elem_type = number
        value.type.tensor_type.shape.SetInParent()
        for extent in shape:
            value.type.tensor_type.shape.dim.add().dim_value = extent
    for value in graph.output:  # the checker asks for a type, many exporters write none, and ours is computed
        value.type.Clear()
        value.type.tensor_type.elem_type = 1
        value.type.tensor_type.shape.SetInParent()


def forget_types(proto: onnx.ModelProto) -> None:
    """Clear the types that stand in the message: ours are settled or computed, and an importer would trip over some."""
    graphs = [proto.graph]
    nodes = [*proto.graph.node, *(node for function in proto.functions for node in function.node)]
    graphs += [attribute.g for node in nodes_within(nodes) for attribute in node.attribute if attribute.HasField("g")]
    for graph in graphs:
        del graph.value_info[:]
        for value in (*graph.input, *graph.output):
            value.ClearField("type")
    for function in proto.functions:
        del function.value_info[:]
