"""Runs lowered networks in NumPy and compares every tensor with ONNX Runtime, node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from tilewright.frontend.load import load
from tilewright.model import Model, Node
from tilewright.ops.operator import Call
from tilewright.ops.quantised.explain import explain
from tilewright.ops.registry import call_of, find
from tilewright.passes.quantise.lower import lower
from tilewright.run.reference import as_held

Arrays = dict[str, npt.NDArray[Any]]


def call_in(model: Model, node: Node) -> Call:
    """The call of a node, types and constants filled in."""
    return call_of(
        node,
        tuple(model.tensors[name] if name else None for name in node.inputs),
        tuple(model.tensors[name] for name in node.outputs if name),
        {i: model.constants[name] for i, name in enumerate(node.inputs) if name in model.constants},
        model.opset,
    )


def calls(model: Model) -> Iterator[Call]:
    """Every call of a model, in order."""
    return (call_in(model, node) for node in model.nodes)


def compute(model: Model, node: Node, values: Arrays) -> None:
    """Add the results of a node to `values`, checked against the types that the model states."""
    operator, call = find(node.op, node.domain), call_in(model, node)
    assert operator is not None, node
    results = operator.evaluate(call, [values[name] if name else None for name in node.inputs])
    for tensor, array in zip(call.outputs, results, strict=True):
        assert array.shape == tensor.shape, node
        assert array.dtype == tensor.dtype.numpy, node
        values[tensor.name] = array


def run_codes(model: Model, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Every tensor of a lowered model."""
    values: Arrays = {**model.constants, **feeds}
    for node in model.nodes:
        compute(model, node, values)
    return values


@dataclass(frozen=True)
class Comparison:
    """Codes that were compared, that differ, that differ for no good reason; the largest difference of floats."""

    codes: int
    mismatches: int
    unexplained: int
    float_error: float


def feeds_for(model: Model, seed: int = 0) -> Arrays:
    """Normal floats, and codes over their whole range."""
    generator = np.random.default_rng(seed)
    found: Arrays = {}
    for name in model.inputs:
        tensor = model.tensors[name]
        if tensor.dtype.is_float:
            found[name] = generator.standard_normal(tensor.shape).astype(np.float32)
        else:
            low, high = tensor.dtype.range
            found[name] = generator.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy)
    return found


def compare(source: onnx.ModelProto | Path, feeds: Arrays | None = None, seed: int = 0) -> tuple[Model, Comparison]:
    """Lower a network and compare each node, fed with ONNX Runtime's own tensors, with ONNX Runtime."""
    import onnxruntime

    proto = onnx.load(source) if isinstance(source, Path) else onnx.ModelProto.FromString(source.SerializeToString())
    model = lower(load(source))
    feeds = feeds or feeds_for(model, seed)
    known = {name for node in proto.graph.node for name in node.output}
    given = {output.name for output in proto.graph.output}
    wanted = [t for t in model.tensors.values() if t.name in known and t.name not in model.constants]
    proto.graph.output.extend(onnx.ValueInfoProto(name=t.name) for t in wanted if t.name not in given)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [tensor.name for tensor in wanted]
    results = zip(wanted, session.run(names, feeds), strict=True)
    theirs = {tensor.name: as_held(tensor, value) for tensor, value in results}
    return model, _compare(model, feeds, theirs)


def _compare(model: Model, feeds: Arrays, theirs: Arrays) -> Comparison:
    values: Arrays = {**model.constants, **feeds}
    codes = mismatches = unexplained = 0
    error = 0.0
    for node in model.nodes:
        operands = [values[name] if name else None for name in node.inputs]
        compute(model, node, values)
        for name in node.outputs:
            if name not in theirs:
                continue
            ours, other = values[name], theirs[name]
            if model.tensors[name].quantisation:
                operator = find(node.op, node.domain)
                assert operator is not None
                found = explain(operator, call_in(model, node), operands, ours, other)
                codes += ours.size
                mismatches += found.mismatches
                unexplained += found.mismatches - found.explained
            elif model.tensors[name].dtype.is_float:
                error = max(error, float(np.abs(ours - other).max(initial=0)))
            else:
                assert np.array_equal(ours, other), node
            values[name] = other
    return Comparison(codes, mismatches, unexplained, error)
