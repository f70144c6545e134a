"""A Model as an ONNX file: others read it, ONNX Runtime runs it, and it compiles like any network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.states import METADATA
from tilewright.frontend.values import ONNX_TYPE
from tilewright.model import Array, Attribute, DType, Model, Node, Tensor

if TYPE_CHECKING:
    import onnx

IR_VERSION = 10


def to_onnx(model: Model) -> onnx.ModelProto:
    """The network with its states as inputs and outputs that the file's metadata pair; first values as initialisers.

    UnsupportedNode for a node with a limit that is part of it, or codes: such networks are no longer as in a file.
    """
    import onnx
    from onnx import helper

    for node in model.nodes:
        coded = any(name and model.tensors[name].quantisation for name in (*node.inputs, *node.outputs))
        if node.clamp is not None or coded:
            raise UnsupportedNode(f"node '{node.name}' ({node.op}) has no form in a file", node=node.name)
    stored = {**model.constants, **{one.past: one.initial for one in model.states if one.initial is not None}}
    graph = helper.make_graph(
        [_node(node) for node in model.nodes],
        model.name,
        [_value(model.tensors[name]) for name in model.inputs],
        [_value(model.tensors[name]) for name in model.outputs],
        [_constant(name, value, model.tensors[name].dtype) for name, value in stored.items()],
    )
    opsets = [helper.make_opsetid("", model.opset)]
    opsets += [helper.make_opsetid(domain, 1) for domain in sorted({node.domain for node in model.nodes} - {""})]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="tilewright")
    if model.states:
        pairs = ((one.past, one.present) for one in model.states)
        proto.metadata_props.add(key=METADATA, value=",".join(f"{_quoted(a)}={_quoted(b)}" for a, b in pairs))
    onnx.checker.check_model(proto)
    return proto


def _constant(name: str, value: Array, dtype: DType) -> onnx.TensorProto:
    """A constant; one of four bits is held in eight here, and packed in the file."""
    from onnx import helper, numpy_helper

    if dtype.bits == 4:
        return helper.make_tensor(name, ONNX_TYPE[dtype], value.shape, value.reshape(-1).tolist())
    return numpy_helper.from_array(np.asarray(value, order="C"), name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _node(node: Node) -> onnx.NodeProto:
    from onnx import helper

    attributes = {name: _attribute(value) for name, value in node.attributes.items()}
    return helper.make_node(
        node.op, list(node.inputs), list(node.outputs), name=node.name, domain=node.domain, **attributes
    )


def _attribute(value: Attribute) -> Any:
    from onnx import numpy_helper

    if isinstance(value, np.ndarray):
        return numpy_helper.from_array(value)
    return list(value) if isinstance(value, tuple) else value


def _value(tensor: Tensor) -> onnx.ValueInfoProto:
    from onnx import helper

    return helper.make_tensor_value_info(tensor.name, ONNX_TYPE[tensor.dtype], tensor.shape)
