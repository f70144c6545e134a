"""A TensorFlow Lite file as an ONNX model: quantised tensors between QuantizeLinear and DequantizeLinear.

Inputs and outputs have the names, shapes and element types of the file: codes where the file has codes. What lives from
call to call is an input and an output of the graph, named in the metadata `tilewright.state`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.errors import ModelError
from tilewright.ieee import ieee
from tilewright.model import DType
from tilewright.tflite.file import read_network
from tilewright.tflite.operators import CUSTOM_DOMAIN, write
from tilewright.tflite.unlike import METADATA as UNLIKE_METADATA
from tilewright.tflite.unlike import written
from tilewright.tflite.writer import Writer
from tilewright.version import VERSION

if TYPE_CHECKING:
    import onnx

OPSETS = (20, 21)
"""The second has codes of 4 and 16 bits; ONNX Runtime's optimiser does not keep the type of codes of 8 bits in it."""
IR_VERSION = 10
STATE_METADATA = "tilewright.state"


@ieee
def to_onnx(content: bytes, name: str = "network") -> onnx.ModelProto:
    """The model of the bytes of a file. ModelError for a damaged file, UnsupportedError for what ONNX cannot say."""
    from onnx import helper

    writer = Writer(read_network(content))
    graph = writer.graph
    inputs = []
    for index in graph.inputs:
        if writer.tensor(index).dtype is None or (index, False) in writer.reals:
            raise ModelError("the TensorFlow Lite file is damaged", why=f"input {index} is none or is there twice")
        writer.given(index, writer.names[index])
        inputs.append(_value(writer, index, writer.names[index]))
    for operator in graph.operators:
        write(writer, operator)
    writer.label = ""
    outputs: list[onnx.ValueInfoProto] = []
    for index in graph.outputs:
        label = writer.names[index] if index not in graph.inputs else writer.fresh(f"{writer.names[index]}/copy")
        if label in [value.name for value in outputs]:
            label = writer.fresh(label)
        writer.result(index, label)
        outputs.append(_value(writer, index, label))
    pairs = []
    for key, state in writer.states.items():
        present = writer.fresh(f"{state.past}/next")
        if key in writer.next:
            writer.result(state.index, present, writer.next[key])
        else:
            writer.result(writer.assigned[key], present)
        inputs.append(_value(writer, state.index, state.past))
        outputs.append(_value(writer, state.index, present))
        pairs.append((state.past, present))
        if state.initial.any():
            writer.initialisers.append(_initial(state.initial, state.past))
    wide = any(tensor.dtype in (DType.I4, DType.I16) and tensor.scales is not None for tensor in graph.tensors)
    made = helper.make_graph(writer.nodes, name, inputs, outputs, writer.initialisers)
    imports = [helper.make_opsetid("", OPSETS[wide])]
    if any(node.domain == CUSTOM_DOMAIN for node in writer.nodes):
        imports.append(helper.make_opsetid(CUSTOM_DOMAIN, 1))
    model = helper.make_model(made, opset_imports=imports, ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "tilewright", VERSION
    told = {STATE_METADATA: ",".join(f"{_quoted(a)}={_quoted(b)}" for a, b in pairs)} if pairs else {}
    if writer.unlike:
        told[UNLIKE_METADATA] = written(writer.unlike)
    if told:
        helper.set_model_props(model, told)
    return model


def _value(writer: Writer, index: int, name: str) -> onnx.ValueInfoProto:
    from onnx import helper

    tensor = writer.tensor(index)
    assert tensor.dtype is not None, tensor.name
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype.numpy), tensor.shape)


def _initial(value: object, name: str) -> onnx.TensorProto:
    import numpy as np
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(value), name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
