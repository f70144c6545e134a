"""RunningSums: running sums as TensorFlow Lite Micro's reference kernel computes them, on int8 codes.

A sum has 19 fraction bits. It begins with minus the zero point of the operand, as that of the kernel does, and is made
a code behind every step. Source: tensorflow/lite/kernels/internal/reference/cumsum.h.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, Quantisation
from tilewright.ops.codes import AsIntegers
from tilewright.ops.operands import one_axis
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.relayout import DOMAIN

OF = "CumSum"
"""The operator on real numbers."""
FRACTION_BITS = 19


def running_rule(source: Quantisation, target: Quantisation) -> Twice:
    """What brings a sum to the scale of the result; the kernel has none of one or more."""
    return Twice.of(2 * source.scale[0] / ((1 << (FRACTION_BITS + 1)) * target.scale[0]))


def longest(source: Quantisation) -> int:
    """Elements of which the sum fits 32 bits, whatever they are."""
    zero = source.zero_point[0]
    return ((1 << (31 - FRACTION_BITS)) - 1 - abs(zero)) // max(127 - zero, 128 + zero)


def running_along(call: Call) -> tuple[int, bool, bool]:
    """The axis, whether each result is of what comes before, and whether sums run backwards."""
    axis = one_axis(call, call.integer("axis"), len(call.shape()))
    return axis, bool(call.integer("exclusive", 0)), bool(call.integer("reverse", 0))


def _infer(call: Call) -> tuple[TensorType, ...]:
    running_along(call)
    return (TensorType(call.tensor(0).dtype, call.shape()),)


def _evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    axis, exclusive, reverse = running_along(call)
    source, target = the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0])
    centred = codes.astype(np.int64) - source.zero_point[0]
    centred = np.flip(centred, axis) if reverse else centred
    sums = np.cumsum(centred, axis) - source.zero_point[0] - (centred if exclusive else 0)
    steps = running_rule(source, target).apply(sums << FRACTION_BITS) + target.zero_point[0]
    results = np.clip(steps, *call.outputs[0].dtype.range).astype(codes.dtype)
    return (np.flip(results, axis) if reverse else results,)


OPERATORS = (
    Operator("RunningSums", _infer, _evaluate, ("x",), codes=AsIntegers(), domain=DOMAIN, sketch="micro_sums"),
)
