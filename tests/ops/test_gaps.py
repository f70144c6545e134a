"""Forms that nothing computes: what is said of them names the form and what to do, and no word of the inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.conformance.subject import load_and_pass, place
from tilewright.errors import UnsupportedNode
from tilewright.ops.registry import all_operators
from tilewright.plugins import platform

F16, F32, I32, U8, I8 = 10, 1, 6, 2, 3
GAPS: dict[str, tuple[onnx.NodeProto, dict[str, tuple[tuple[int, ...], int]], dict[str, Any]]] = {
    "it reads outside of the image (extrapolation_value); put a Pad before it, or keep the roi inside": (
        node("Resize", "x roi - sizes", "y", "n", mode="linear", coordinate_transformation_mode="tf_crop_and_resize"),
        {"x": ((1, 1, 4, 4), F32)},
        {"roi": np.array([0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7], np.float32), "sizes": np.array([1, 1, 3, 3])},
    ),
    "it smooths plain i32 (antialias), which every runtime rounds in its own way; cast the operand to f32, or "
    "quantise the network (QDQ)": (
        node("Resize", "x - - sizes", "y", "n", mode="linear", antialias=1),
        {"x": ((1, 1, 4, 4), I32)},
        {"sizes": np.array([1, 1, 8, 8])},
    ),
    "its operand is i32, it is computed on floats; put a Cast to f32 before it": (
        node("ReduceL2", "x", "y", "n"),
        {"x": ((3, 4), I32)},
        {},
    ),
    "it has a zero point per row or column; quantise with one zero point for each operand": (
        node("MatMulInteger", "x w z", "y", "n"),
        {"x": ((2, 3), U8), "w": ((3, 4), I8)},
        {"z": np.arange(2, dtype=np.uint8)},
    ),
    "it computes in f16 ('output_dtype') and its scale is f32; leave 'output_dtype' out": (
        node("DequantizeLinear", "x s", "y", "n", output_dtype=F16),
        {"x": ((2, 3), I8)},
        {"s": np.float32(0.5)},
    ),
}


@pytest.mark.parametrize("sentence", GAPS)
def test_a_form_that_nothing_computes_is_named_with_what_to_do(sentence: str) -> None:
    made, inputs, constants = GAPS[sentence]
    kinds = {name: kind for name, (_, kind) in inputs.items()}
    proto = onnx_model([made], {name: shape for name, (shape, _) in inputs.items()}, ["y"], constants, 23, types=kinds)
    with pytest.raises(UnsupportedNode) as caught:
        place(load_and_pass(proto, "net"), platform("generic"))
    assert str(caught.value) == f"node 'n' ({made.op_type}) is not computed on platform 'generic': {sentence}"
    assert caught.value.where.node == "n"


def test_every_form_without_index_maps_has_a_sentence() -> None:
    told = {operator.name for operator in all_operators() if operator.gap is not None}
    assert told >= {"QuantizeLinear", "DequantizeLinear", "Pad", "Resize", "ReduceL2", "OneHot", "Compress"}
