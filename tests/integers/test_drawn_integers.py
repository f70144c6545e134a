"""Kernels of integers whose drawn calls are few in the suite: enlarged images of codes, products of plain bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from onnx import TensorProto
from tilewright.compile import compile_model
from tilewright.conformance.fences import FLAGS, fenced
from tilewright.conformance.kernels import attempts, compare
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import subject
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.plugins import find_platforms, kernels_of
from tilewright.run.inputs import input_arrays
from tilewright.target import load_target

CALLS, IMAGES = 8, 2


@pytest.mark.parametrize(
    ("kernel", "op"),
    [("ResizeLinearI8", "Resize"), ("ResizeJoinedI8", "Resize"), ("IntegerProduct", "MatMulInteger")],
)
def test_drawn_calls_of_a_kernel_of_integers(kernel: str, op: str, tmp_path: Path) -> None:
    generic = find_platforms()["generic"]
    relayouts = [each for each in kernels_of(generic) if each.op == "Relayout"]
    (chosen,) = (each for each in generic.own_kernels() if (each.name, each.op) == (kernel, op))
    findings = compare(attempts([chosen], generic, relayouts, 5, CALLS), tmp_path, ("-O2", *STRICT))
    assert findings.compared == {(kernel, op): CALLS}
    assert not findings.differences


@pytest.mark.parametrize(
    ("kernel", "rows", "columns", "attributes"),
    [
        ("ResizeLinearI8", 10, 12, {}),
        ("ResizeJoinedI8", 15, 7, {}),
        ("ResizeJoinedI8", 5, 8, {"coordinate_transformation_mode": "align_corners"}),
        ("ResizeJoinedI8", 3, 2, {}),
        ("ResizeJoinedI8", 7, 3, {}),
    ],
)
@pytest.mark.parametrize(("kind", "channels"), [(np.int8, 21), (np.uint8, 6), (np.int8, 32), (np.int8, 1)])
def test_images_of_many_channels_are_scaled(
    kernel: str, rows: int, columns: int, attributes: dict[str, str], kind: type, channels: int, tmp_path: Path
) -> None:
    zero: np.ndarray = np.asarray(np.iinfo(kind).min + 90, kind)
    nodes = [
        node("DequantizeLinear", "x s zero", "real"),
        node("Resize", "real - - sizes", "large", mode="linear", **attributes),
        node("QuantizeLinear", "large t zero", "y"),
    ]
    constants = {
        "s": np.float32(0.03),
        "t": np.float32(0.029),
        "zero": zero,
        "sizes": np.asarray([IMAGES, channels, rows, columns], np.int64),
    }
    types = dict.fromkeys("xy", TensorProto.INT8 if kind is np.int8 else TensorProto.UINT8)
    path = tmp_path / "large.onnx"
    onnx.save(onnx_model(nodes, {"x": [IMAGES, channels, 5, 3]}, ["y"], constants, opset=19, types=types), path)
    keeping_scratch = CompileOptions(disabled_passes=frozenset({"kernels"}))
    compiled = compile_model(path, keeping_scratch, load_target("host"))
    assert kernel in {each.kernel.name for each in compiled.plan.instructions if each.kernel is not None}
    inputs = input_arrays(compiled.plan, None, 4)
    generic = find_platforms()["generic"]
    (chosen,) = (each for each in generic.own_kernels() if (each.name, each.op) == (kernel, "Resize"))
    fence = fenced(compiled.placed, chosen, generic, subject(compiled.placed, generic, [inputs]))
    (outcome,) = run_batch([fence], tmp_path, flags=("-O2", *STRICT, *FLAGS))
    assert outcome.failure == ""
    np.testing.assert_array_equal(outcome.runs[0][0], run(compiled.plan, inputs)[0])
