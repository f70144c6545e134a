"""One call in ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from tilewright.model import Array, DType
from tilewright.ops.operator import Call

ELEMENT = {
    DType.F32: onnx.TensorProto.FLOAT, DType.I8: onnx.TensorProto.INT8, DType.U8: onnx.TensorProto.UINT8,
    DType.I64: onnx.TensorProto.INT64, DType.I32: onnx.TensorProto.INT32, DType.I16: onnx.TensorProto.INT16,
    DType.F64: onnx.TensorProto.DOUBLE, DType.BOOL: onnx.TensorProto.BOOL,
}  # fmt: skip


def run(made: Call, arrays: tuple[Array | None, ...]) -> list[Array]:
    """What ONNX Runtime computes for this call."""
    helper, node = onnx.helper, made.node
    attributes: dict[str, Any] = dict(node.attributes)
    inputs = [t for t in made.inputs if t is not None]
    graph = helper.make_graph(
        [helper.make_node(node.op, node.inputs, node.outputs, **attributes)],
        "one",
        [helper.make_tensor_value_info(t.name, ELEMENT[t.dtype], t.shape) for t in inputs],
        [helper.make_tensor_value_info(t.name, ELEMENT[t.dtype], t.shape) for t in made.outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", made.opset)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {t.name: a for t, a in zip(made.inputs, arrays, strict=True) if t is not None}
    return [np.asarray(value) for value in session.run(None, feeds)]
