"""Small ONNX models for tests, built in code, and two ways to run one: our operators in NumPy, and ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tilewright.frontend.load import load
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.passes.driver import run

Arrays = dict[str, npt.NDArray[Any]]
Dimensions = Sequence[int | str | None]


def onnx_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Dimensions],
    outputs: Sequence[str],
    constants: Mapping[str, object] | None = None,
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
    types: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """A model whose inputs are float32 unless `types` says otherwise; the outputs carry no type."""
    types = types or {}
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [
            helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), shape)
            for name, shape in inputs.items()
        ],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    for value in graph.output:
        value.type.tensor_type.elem_type = types.get(value.name, TensorProto.FLOAT)
    domains = {"": opset, **{function.domain: 1 for function in functions}}
    imports = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def node(op: str, inputs: str, outputs: str, name: str = "", domain: str = "", **attributes: Any) -> onnx.NodeProto:
    """A node; inputs and outputs are names with blanks between them, `-` for an omitted one."""
    read, written = (["" if part == "-" else part for part in text.split()] for text in (inputs, outputs))
    return helper.make_node(op, read, written, name, domain=domain, **attributes)


def execute(model: Model, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """The outputs of the model, each node computed by its operator."""
    values: Arrays = {**model.constants, **{name: feeds[name] for name in model.inputs}}
    for each in model.nodes:
        operator = find(each.op, each.domain)
        assert operator is not None, each
        operands = tuple(model.tensors[name] if name else None for name in each.inputs)
        constants = {i: model.constants[name] for i, name in enumerate(each.inputs) if name in model.constants}
        call = Call(each, operands, (), constants, model.opset, operator=operator)
        types = zip(each.outputs, operator.infer(call), strict=False)
        call = replace(call, outputs=tuple(Tensor(name, found.dtype, found.shape) for name, found in types))
        with np.errstate(all="ignore"):
            results = operator.evaluate(call, [values[name] if name else None for name in each.inputs])
        values.update(zip(each.outputs, results, strict=False))
    return {name: values[name] for name in model.outputs}


def reference(model: onnx.ModelProto, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """What ONNX Runtime computes, with its optimisations off."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, dict(feeds)), strict=True))


def random_feeds(model: Model, seed: int = 0) -> Arrays:
    """Normal numbers for every input of the model."""
    generator = np.random.default_rng(seed)
    return {
        name: np.asarray(generator.standard_normal(tensor.shape), tensor.dtype.numpy)
        for name, tensor in ((name, model.tensors[name]) for name in model.inputs)
    }


def same_as_onnx_runtime(proto: onnx.ModelProto) -> None:
    """The model as it is loaded computes what ONNX Runtime computes."""
    model = load(proto)
    feeds = random_feeds(model)
    ours, theirs = execute(model, feeds), reference(proto, feeds)
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6)


def rewritten(proto: onnx.ModelProto, atol: float = 1e-6) -> Model:
    """The model after all passes, which must compute what ONNX Runtime computes without any."""
    plain = load(proto)
    model, _ = run(plain)
    feeds = random_feeds(plain)
    expected, found = reference(proto, feeds), execute(model, feeds)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=atol)
    return model


def ops(model: Model) -> list[str]:
    """The operators of a model in its order."""
    return [each.op for each in model.nodes]
