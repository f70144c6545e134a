"""Shapes that a file declares are never contradicted in silence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from in_c import Trial, hold
from tilewright.errors import ModelError
from tilewright.frontend.load import load
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.registry import find


def declaring(sizes: list[int | str], inner: list[int] | None = None) -> onnx.ModelProto:
    proto = onnx_model([node("Relu", "x", "r"), node("Neg", "r", "y")], {"x": [2, 3]}, ["y"])
    proto.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", 1, sizes))
    if inner is not None:
        proto.graph.value_info.append(onnx.helper.make_tensor_value_info("r", 1, inner))
    return proto


@pytest.mark.parametrize("sizes", [[2, 3], ["N", 3], ["?", "?"], [2, 0]])
def test_a_declaration_that_fits_or_is_open_says_nothing(sizes: list[int | str]) -> None:
    assert load(declaring(sizes, [2, 3])).notes == ()


@pytest.mark.parametrize(("sizes", "text"), [([1, 3], "[1, 3]"), (["N", 3, 1], "[?, 3, 1]")])
def test_a_stale_declaration_of_an_output_is_noted(sizes: list[int | str], text: str) -> None:
    assert load(declaring(sizes)).notes == (f"output 'y' has shape [2, 3], the file declares {text}",)


def test_a_stale_declaration_inside_is_passed_over_and_so_is_any_where_the_user_changed_an_input() -> None:
    assert load(declaring([2, 3], [7, 7])).notes == ()
    changed = load(declaring([2, 3]), shapes={"x": (5, 3)})
    assert changed.notes == ("input 'x' has shape [5, 3] as asked for, the model says [2, 3]",)


@pytest.mark.parametrize("tensor", ["r", "y"])
def test_a_shape_that_the_standard_s_inference_contradicts_too_is_refused(tensor: str) -> None:
    operator = "Relu" if tensor == "r" else "Neg"

    def longer(call: Call) -> tuple[TensorType, ...]:
        rows, columns = call.shape()
        return (TensorType(call.tensor(0).dtype, (rows, columns + 1)),)

    def wrong(name: str, domain: str) -> Operator | None:
        true = find(name, domain)
        return replace(true, infer=longer) if true is not None and name == operator else true

    with pytest.raises(ModelError) as caught:
        load(declaring([2, 3], [2, 3]), find=wrong)
    assert str(caught.value) == (
        f"tensor '{tensor}' has the shape [2, 4]: the file and the standard's shape inference give it [2, 3]; "
        "write the node that makes it with explicit pads or sizes, or correct the declaration"
    )
    assert caught.value.where.tensor == tensor


TRANSPOSED: list[tuple[int, int, dict[str, Any]]] = [
    (4, 2, {"strides": [3]}),
    (4, 2, {"strides": [3], "output_padding": [1]}),
    (3, 1, {"strides": [2]}),
    (3, 2, {"strides": [3], "dilations": [2]}),
    (1, 2, {"strides": [3]}),
    (4, 3, {"strides": [2]}),
    (4, 4, {"strides": [3], "output_padding": [1]}),
]


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_a_transposed_convolution_with_automatic_padding_has_the_size_that_onnx_runtime_gives(
    mode: str, tmp_path: Path
) -> None:
    random, trials = np.random.default_rng(5), []
    for size, kernel, attributes in TRANSPOSED:
        weights = random.standard_normal((1, 1, kernel)).astype(np.float32)
        made = node("ConvTranspose", "x w", "y", auto_pad=mode, **attributes)
        x = random.standard_normal((1, 1, size)).astype(np.float32)
        trials.append(Trial(onnx_model([made], {"x": [1, 1, size]}, ["y"], {"w": weights}), {"x": x}))
    hold(trials, tmp_path)
