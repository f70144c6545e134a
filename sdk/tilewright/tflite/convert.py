"""A TensorFlow Lite file as an ONNX model: quantised tensors between QuantizeLinear and DequantizeLinear.

Inputs and outputs have the names, shapes and element types of the file: codes where the file has codes. What lives from
call to call is an input and an output of the graph, named in the metadata `tilewright.state`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import ModelError, TilewrightError, UnsupportedNode
from tilewright.ieee import ieee
from tilewright.model import DType
from tilewright.ops.registry import find
from tilewright.tflite.file import FileOperator, read_network
from tilewright.tflite.registry import operators
from tilewright.tflite.unlike import METADATA as UNLIKE_METADATA
from tilewright.tflite.unlike import written
from tilewright.tflite.writer import Writer
from tilewright.version import VERSION

if TYPE_CHECKING:
    import onnx

OPSETS = (20, 21)
"""The second has codes of 4 and 16 bits; ONNX Runtime's optimiser does not keep the type of codes of 8 bits in it."""
CUSTOM_DOMAIN = "tflite.custom"
"""The domain of custom operators, each under its name; the bytes of its options are `custom_options`."""
IR_VERSION = 10
WITHOUT = {
    "IF": "its branches are graphs of their own, which are not read",
    "WHILE": "its turns are graphs of their own, which are not read",
    "DYNAMIC_UPDATE_SLICE": "where it writes is known only at run time",
    "BROADCAST_ARGS": "shapes have to be known before the code runs",
}
"""Why operators that TensorFlow Lite Micro has are refused."""
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
        _write(writer, operator)
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


def _write(writer: Writer, operator: FileOperator) -> None:
    """The nodes of one operator; an error names it."""
    family = _custom if operator.custom else operators().get(operator.name)
    if family is None:
        raise UnsupportedNode(
            f"operator {operator.name} is not supported", why=WITHOUT.get(operator.name, "it is not known here"),
            fix="cut the network before it", node=operator.label,
        )  # fmt: skip
    writer.label = operator.label
    try:
        family(writer, operator)
    except TilewrightError:
        raise
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        raise ModelError(
            f"operator '{operator.label}' is damaged",
            why=f"its operands and options do not go together ({' '.join(str(error).split())[:160]})",
            fix="convert or download it again", node=operator.label,
        ) from error  # fmt: skip


def _custom(writer: Writer, operator: FileOperator) -> None:
    """A custom operator as the node of its name in `CUSTOM_DOMAIN`, where a plug-in has published that operator."""
    from onnx import numpy_helper

    if find(operator.name, CUSTOM_DOMAIN) is None:
        raise UnsupportedNode(
            f"custom operator {operator.name} is not supported",
            why=f"no plug-in has an operator of this name in the domain '{CUSTOM_DOMAIN}'",
            fix="publish one under the entry points 'tilewright.operators', or cut the network before it",
            node=operator.label,
        )  # fmt: skip
    operands = [writer.value(index) if index >= 0 else "" for index in operator.inputs]
    names = [writer.fresh(f"{writer.names[index]}/computed") for index in operator.outputs]
    options = numpy_helper.from_array(np.frombuffer(operator.custom_options, np.uint8))
    writer.ops(operator.name, operands, names, {"domain": CUSTOM_DOMAIN, "custom_options": options})
    for index, name in zip(operator.outputs, names, strict=True):
        writer.define(index, name)


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
