"""Random calls of what TensorFlow Lite Micro has codes of its own for, and the scales that its kernels take."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tilewright.conformance.draws import Draw, Sketch, data, shape_of
from tilewright.model import DType, Quantisation, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.quantised import log_shares, unit_rows
from tilewright.ops.quantised.softmax_lines import RESULT_SCALE


def rows(r: Draw, op: str) -> Sketch:
    """Rows of codes along the last axis."""
    return Sketch(op, (data(r, shape_of(r, 1, 3)),))


def running_rows(r: Draw, op: str) -> Sketch:
    """Sums along any axis, forwards or backwards."""
    shape = shape_of(r, 1, 3)
    return Sketch(
        op, (data(r, shape),),
        {"axis": r.randrange(-len(shape), len(shape)), "exclusive": r.randint(0, 1), "reverse": r.randint(0, 1)},
    )  # fmt: skip


def wide_product(r: Draw, op: str) -> Sketch:
    """Matrices of the run time."""
    outer = tuple(r.randint(1, 3) for _ in range(r.randint(0, 2)))
    height, depth, width = (r.randint(1, 6) for _ in range(3))
    return Sketch(op, (data(r, (*outer, height, depth)), data(r, (*outer, depth, width))))


def in_scales_of_micro(call: Call, r: random.Random) -> Call | None:
    """The call with the scales that the kernel of TensorFlow Lite Micro takes; None where it has none of its own."""
    x, y = call.tensor(0), call.outputs[0]
    if x.quantisation is None:
        return None
    scale = x.quantisation.scale[0]
    match call.node.op:
        case "UnitRows":
            return _with_result(call, y, *unit_rows.RESULT)
        case "LogShares":
            return _with_result(call, y, *log_shares.RESULT)
        case "RunningSums":
            return _with_result(call, y, scale * r.uniform(1.5, 20.0), r.randint(-128, 127))
        case "InverseRoots":
            return _with_result(_centred(call), y, r.uniform(1e-4, 1e-2), 0)
        case "WideMatMul":
            depth = call.shape()[-1]
            return _with_result(_centred(call), y, scale**2 * depth * r.uniform(3e3, 3e4), 0)
        case "Softmax" if x.dtype is DType.I16:
            return _with_result(_centred(call), replace(y, dtype=x.dtype), RESULT_SCALE, 0)
    return None


def _with_result(call: Call, y: Tensor, scale: float, zero: int) -> Call:
    meaning = Quantisation((float(np.float32(scale)),), (zero,), None, "tflm")
    return replace(call, outputs=(replace(y, quantisation=meaning),))


def _centred(call: Call) -> Call:
    """Codes of sixteen bits have the zero point 0."""
    inputs = tuple(
        replace(tensor, quantisation=replace(tensor.quantisation, zero_point=(0,)))
        if tensor is not None and tensor.quantisation is not None
        else tensor
        for tensor in call.inputs
    )
    return replace(call, inputs=inputs)
