"""WideMatMul: products of two tensors of codes of 16 bits, whose sums have 64, as TensorFlow Lite Micro's kernel has.

The multiplier keeps its upper 15 bits, and each sum is rounded once. Sources: tensorflow/lite/micro/kernels/
batch_matmul.cc; kernels/internal/common.cc (MultiplyByQuantizedMultiplier of int64_t).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, DType, Quantisation
from tilewright.ops import matmul
from tilewright.ops.codes import AsIntegers
from tilewright.ops.index.nest import Nest
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.quantised.real import real_call, the_quantisation
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.requantize import Integers

LARGEST_SUM = 1 << 47


def wide_rule(a: Quantisation, b: Quantisation, y: Quantisation) -> tuple[int, int]:
    """A multiplier of 15 bits and its shift to the right."""
    rule = Twice.of_wide(a.scale[0] * b.scale[0] / y.scale[0])
    return rule.multiplier >> 16, 15 - rule.shift


def wide_reach(depth: int) -> int:
    """The largest sum of so many products."""
    return depth << 30


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (TensorType(DType.I16, matmul.result_shape(call)),)


def rounded_once(sums: Integers, multiplier: int, right: int) -> Integers:
    """The rounded products of sums of 64 bits."""
    return np.asarray((sums * multiplier + (1 << (right - 1))) >> right)


def _evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = arrays[0], arrays[1]
    assert a is not None, "operand 0 is missing"
    assert b is not None, "operand 1 is missing"
    sums = np.asarray(np.matmul(a.astype(np.int64), b.astype(np.int64)))
    rule = wide_rule(*(the_quantisation(tensor) for tensor in (call.tensor(0), call.tensor(1), call.outputs[0])))
    return (np.clip(rounded_once(sums, *rule), *DType.I16.range).astype(np.int16),)


def wide_nests(call: Call) -> tuple[Nest, ...]:
    """The loops of the product on real numbers: no loops over the codes alone have its roundings."""
    return matmul.nests(real_call(call, DType.F32, call.constants))


OPERATORS = (
    Operator("WideMatMul", _infer, _evaluate, ("a", "b"), codes=AsIntegers(), domain=DOMAIN, sketch="micro_product"),
)
