"""Operators that move data, reduce, resize, scan or look up, against ONNX Runtime, with random attributes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    NotImplemented,
    RuntimeException,
)
from ops.building import evaluated, operands, operator
from ops.moving import LOOKED_UP, REAL, WHOLE
from ops.runtime import run

ITS_LIMITS = (
    "Pad reflect requires axis length >= 2",
    "exceeds maximum allowed",
    "Unrecognized attribute: left_window_size",
)
"""What ONNX Runtime does not compute though the standard defines it."""

FAMILIES = {**WHOLE, **REAL, **LOOKED_UP}


@pytest.mark.parametrize("family", FAMILIES)
def test_onnx_runtime_computes_the_same(family: str) -> None:
    r, compared = random.Random(family), 0
    for seed in range(12):
        made = FAMILIES[family](r)
        arrays = operands(made, seed, 0 if made.node.op in ("Cast", "ReduceLogSum") else -8)
        try:
            expected = run(made, arrays)
        except (Fail, RuntimeException, InvalidArgument, InvalidGraph, NotImplemented) as refusal:
            if any(limit in str(refusal) for limit in ITS_LIMITS):
                continue
            raise
        compared += 1
        op, got = operator(made.node.op), evaluated(made, arrays)
        for index, wanted in enumerate(expected):
            np.testing.assert_allclose(got[op.result(index)], wanted, rtol=2e-5, atol=2e-5, err_msg=str(made.node))
    assert compared >= 3
