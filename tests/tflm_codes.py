"""Networks under `--numerics tflm`, and the codes that the semantics gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.frontend.load import load
from tilewright.model import Array, Model
from tilewright.ops.registry import call_of
from tilewright.passes.driver import run as passes
from tilewright.passes.quantise.known import require_known
from tilewright.passes.quantise.lower import lower


def lowered(content: bytes) -> Model:
    """The model under the contract, all of whose nodes are known."""
    model = lower(replace(load(content), numerics="tflm"))
    require_known(model)
    return passes(model)[0]


def codes_of(model: Model, inputs: Mapping[str, Array]) -> list[Array]:
    """What the semantics gives for the outputs."""
    values = values_of(model, inputs)
    return [values[name] for name in model.outputs]


def values_of(model: Model, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What the semantics gives for every tensor, node after node."""
    values = {**model.constants, **inputs}
    for node in model.nodes:
        operands = tuple(model.tensors[name] if name else None for name in node.inputs)
        constants = {i: model.constants[name] for i, name in enumerate(node.inputs) if name in model.constants}
        call = call_of(node, operands, tuple(model.tensors[name] for name in node.outputs), constants, model.opset)
        assert call.operator is not None
        results = call.operator.evaluate(call, [values[name] if name else None for name in node.inputs])
        values.update(zip(node.outputs, results, strict=False))
    return values
