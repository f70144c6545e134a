"""UnitRows: rows over their length as TensorFlow Lite Micro's reference kernel computes it, on int8 codes.

The sum of squares is exact; the inverse of its root has a multiplier of 31 bits, and each code is rounded by it twice.
Source: tensorflow/lite/kernels/internal/reference/integer_ops/l2normalization.h.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import AsIntegers
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.quantised.function_twice import root_multiplier
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.relayout import DOMAIN

OF = "LpNormalization"
"""The operator on real numbers."""
RESULT = (1 / 128, 0)
"""Scale and zero point of every result."""
RESULT_BITS = 7
LONGEST = ((1 << 31) - 1) // 255**2
"""Elements of a row of which the sum of squares fits 32 bits."""


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (TensorType(call.tensor(0).dtype, call.shape()),)


def _evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    centred = codes.astype(np.int64) - the_quantisation(call.tensor(0)).zero_point[0]
    rows = centred.reshape(-1, codes.shape[-1])
    results = np.zeros(rows.shape, np.int64)
    for place, (row, total) in enumerate(zip(rows, np.square(rows).sum(axis=1).tolist(), strict=True)):
        multiplier, shift = root_multiplier(total)
        results[place] = Twice(multiplier, shift + RESULT_BITS).apply(row)
    return (np.clip(results, *DType.I8.range).astype(np.int8).reshape(codes.shape),)


OPERATORS = (Operator("UnitRows", _infer, _evaluate, ("x",), codes=AsIntegers(), domain=DOMAIN, sketch="micro_rows"),)
