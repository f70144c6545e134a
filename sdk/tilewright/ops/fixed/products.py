"""MatMul of rows in fixed point with a constant matrix, for the products that are too small to be in codes.

y[n] = (sum of x[k] * w[k, n]) >> shift          in 64 bits; weights have as many bits as that leaves them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array
from tilewright.ops.fixed.tensors import fraction_bits
from tilewright.ops.fixed.whole import mantissa
from tilewright.ops.operator import Call, remembered
from tilewright.ops.requantize import Integers

_MOST_SHIFT = 62


@dataclass(frozen=True)
class MatrixForm:
    """Whole weights [inputs, outputs], and by how many bits sums are shifted to the right, to the left below 0."""

    weights: Integers
    shift: int


@remembered
def matrix_form(call: Call) -> MatrixForm:
    """Such that no sum leaves 62 bits: the largest sum of a column's weights has 31."""
    weights = call.constant(1, "the matrix").astype(np.float64)
    largest = float(np.abs(weights).sum(0).max(initial=0.0))
    exponent = mantissa(largest)[1] if largest else 0
    shift = fraction_bits(call.tensor(0)) - exponent - fraction_bits(call.outputs[0])
    return MatrixForm(np.rint(weights * 2.0**-exponent).astype(np.int64), min(shift, _MOST_SHIFT))


def evaluate_matrix(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Rows times the matrix."""
    x, form = arrays[0], matrix_form(call)
    assert x is not None, "operand 0 is missing"
    sums = x.astype(np.int64) @ form.weights
    return ((sums >> form.shift if form.shift >= 0 else sums << -form.shift).astype(np.int32),)
