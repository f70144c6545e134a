"""Det: the determinant of the last two axes."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.operands import Arrays, given, needs_float, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def _infer(call: Call) -> tuple[TensorType, ...]:
    shape, dtype = call.shape(), needs_float(call)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise call.invalid(f"the last two axes of {shape} are no square")
    return (result(call, dtype, shape[:-2]),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x = given(arrays, 0)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    return (np.asarray(np.linalg.det(wide), x.dtype),)


OPERATORS = (Operator("Det", _infer, _evaluate, ("x",), kind=Kind.OPAQUE, sketch="squares"),)
