"""Operators with random attributes against ONNX Runtime; operands are small whole numbers, so that sums are exact."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, RuntimeException
from ops.building import FAMILIES, Build, Draw, call, evaluated, operands, operator
from ops.runtime import run
from tilewright.ops.operator import Call


def auto_padded(op: str) -> Build:
    def build(r: Draw) -> Call:
        kernel, strides = (r.randint(1, 3), r.randint(1, 3)), (r.randint(1, 3), r.randint(1, 3))
        x, mode = (1, 2, r.randint(4, 8), r.randint(4, 8)), r.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        shared: dict[str, Any] = {"strides": strides, "auto_pad": mode}
        if op.startswith("Conv"):
            return call(op, x, (2, 2, *kernel), **shared)
        return call(op, x, kernel_shape=kernel, **shared)

    return build


def column_major(r: Draw) -> Call:
    x = (2, 2, r.randint(3, 6), r.randint(3, 6))
    return call("MaxPool", x, kernel_shape=(2, 3), strides=(1, 2), pads=(0, 1, 1, 1), storage_order=1, outputs=2)


MORE: dict[str, Build] = {
    "conv_auto": auto_padded("Conv"), "max_auto": auto_padded("MaxPool"), "average_auto": auto_padded("AveragePool"),
    "max_column_major": column_major,
}  # fmt: skip
NOT_COMPARED = {
    "rms_norm": "ONNX Runtime in use may lack opset 23",
    "dequantise": "ONNX Runtime in use takes blocks of 4-bit weights only",
}
COMPARED = {name: build for name, build in {**FAMILIES, **MORE}.items() if name not in NOT_COMPARED}
ITS_LIMITS = (
    "Pad should be smaller than kernel",
    "Non per-tensor quantization is not supported now",
    "padding values must be non-negative",
)
"""What ONNX Runtime does not compute though the standard defines it."""


@pytest.mark.parametrize("family", COMPARED)
def test_onnx_runtime_computes_the_same(family: str) -> None:
    r, compared = random.Random(family), 0
    for seed in range(15):
        made = COMPARED[family](r)
        arrays = operands(made, seed)
        try:
            expected = run(made, arrays)
        except (Fail, RuntimeException) as refusal:
            if any(limit in str(refusal) for limit in ITS_LIMITS):
                continue
            raise
        compared += 1
        op, got = operator(made.node.op), evaluated(made, arrays)
        for index, wanted in enumerate(expected):
            np.testing.assert_allclose(got[op.result(index)], wanted, rtol=2e-5, atol=2e-5, err_msg=str(made.node))
    assert compared >= 3
