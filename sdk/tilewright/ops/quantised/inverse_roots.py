"""InverseRoots: 1 / sqrt(x) of codes of 16 bits, of which no table is kept, as TensorFlow Lite Micro has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import AsIntegers
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.quantised.function_twice import inverse_root
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.relayout import DOMAIN


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (TensorType(call.tensor(0).dtype, call.shape()),)


def _evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    some, places = np.unique(codes, return_inverse=True)
    y = call.outputs[0]
    roots = inverse_root(some, the_quantisation(call.tensor(0)), the_quantisation(y), y.dtype)
    return (roots[places].reshape(codes.shape),)


OPERATORS = (
    Operator("InverseRoots", _infer, _evaluate, ("x",), codes=AsIntegers(), domain=DOMAIN, sketch="micro_rows"),
)
