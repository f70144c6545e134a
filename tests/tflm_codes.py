"""Networks under `--numerics tflm`, and the codes that the semantics gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
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


Case = tuple[bytes, Sequence[Array]]
"""A file, and its inputs by the number of their tensor."""


def codes_of_case(case: Case) -> Array:
    """The one result of a file of one operator."""
    content, inputs = case
    (codes,) = codes_of(lowered(content), {f"t{index}": value for index, value in enumerate(inputs)})
    return codes


def codes_of_the_wheel(case: Case) -> Array:
    """The same from TensorFlow Lite Micro; the test is skipped where it is not installed."""
    content, inputs = case
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 21)
    for index, value in enumerate(inputs):
        interpreter.set_input(value, index)
    interpreter.invoke()
    return np.asarray(interpreter.get_output(0))


def weighed(codes: Array) -> int:
    """A sum that sees order and value."""
    return int((codes.astype(np.int64).reshape(-1) * (np.arange(codes.size) % 97 + 1)).sum())
