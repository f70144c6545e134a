"""Checks that every name in the file is text: protobuf hands out bytes for what is not valid UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.errors import ModelError

if TYPE_CHECKING:
    import onnx


def check_text(proto: onnx.ModelProto, file: str) -> None:
    """ModelError for the first name that is not."""
    for kind, name in _names(proto):
        if not isinstance(name, str):
            why, fix = f"the name of {kind} is not valid UTF-8 text", "check how the model was exported"
            raise ModelError("the model is invalid", why=why, fix=fix, file=file)


def _names(proto: onnx.ModelProto) -> Iterator[tuple[str, object]]:
    graphs, nodes = [proto.graph], [node for function in proto.functions for node in function.node]
    yield from (("a domain", entry.domain) for entry in proto.opset_import)
    for function in proto.functions:
        texts = (function.name, function.domain, *function.input, *function.output, *function.attribute)
        yield from (("a function or of something in it", text) for text in texts)
        yield from (("a domain", entry.domain) for entry in function.opset_import)
        yield from (("an attribute", attribute.name) for attribute in function.attribute_proto)
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            nodes.extend(graph.node)
            yield from _graph_names(graph)
            continue
        node = nodes.pop()
        texts = (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (("a node or of a tensor that it reads or writes", text) for text in texts)
        for attribute in node.attribute:
            yield "an attribute", attribute.name
            yield "an attribute", attribute.ref_attr_name
            yield "a tensor", attribute.t.name
            if attribute.HasField("g"):
                graphs.append(attribute.g)


def _graph_names(graph: onnx.GraphProto) -> Iterator[tuple[str, object]]:
    yield "a graph", graph.name
    yield from (("an initialiser", tensor.name) for tensor in graph.initializer)
    yield from (("an initialiser", tensor.values.name) for tensor in graph.sparse_initializer)
    for value in (*graph.input, *graph.output):
        yield "an input or output", value.name
        yield from (("a dimension", dimension.dim_param) for dimension in value.type.tensor_type.shape.dim)
