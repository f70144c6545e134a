"""Interleave: results a stride apart come from one operand each, as the phases of a transposed convolution do.

Operand number p, whose digits to the base of the strides are p0, p1, ..., holds results `i0 * stride0 + p0` and so on
of the spatial axes. The passes make it; no file contains it.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from tilewright.model import Array, Shape
from tilewright.ops.codes import Moves
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.relayout import DOMAIN


def _digits(call: Call) -> tuple[Shape, ...]:
    """The first result of every operand along the spatial axes."""
    strides = call.integers("strides", ())
    if len(strides) != len(call.shape()) - 2 or min(strides, default=0) < 1 or prod(strides) != len(call.inputs):
        raise call.invalid(f"strides {strides} do not fit {len(call.inputs)} operands of {len(call.shape())} axes")
    return tuple(product(*map(range, strides)))


def is_interleave(call: Call) -> bool:
    """True for this operator."""
    return (call.node.op, call.node.domain) == ("Interleave", DOMAIN)


def places(call: Call) -> tuple[tuple[slice, ...], ...]:
    """What of the result every operand holds."""
    strides = call.integers("strides", ())
    whole = (slice(None), slice(None))
    return tuple(
        (*whole, *(slice(digit, None, stride) for digit, stride in zip(own, strides, strict=True)))
        for own in _digits(call)
    )


def _infer(call: Call) -> tuple[TensorType, ...]:
    first, digits, strides = call.tensor(0), _digits(call), call.integers("strides", ())
    outs = [
        sum(shape[2 + axis] for shape, own in zip(map(call.shape, range(len(digits))), digits, strict=True)
            if all(digit == 0 for place, digit in enumerate(own) if place != axis))
        for axis in range(len(strides))
    ]  # fmt: skip
    for index, own in enumerate(digits):
        wanted = (*first.shape[:2], *(-(-(o - p) // s) for o, p, s in zip(outs, own, strides, strict=True)))
        if call.shape(index) != wanted or call.tensor(index).dtype is not first.dtype:
            raise call.invalid(f"operand {index} has shape {call.shape(index)}, {wanted} would fit")
    return (result(call, first.dtype, (*first.shape[:2], *outs)),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    (kind,) = _infer(call)
    y = np.empty(kind.shape, given(arrays, 0).dtype)
    for index, where in enumerate(places(call)):
        y[where] = given(arrays, index)
    return (y,)


def _nests(call: Call) -> tuple[Nest, ...]:
    (kind,), strides, nests = _infer(call), call.integers("strides", ()), []
    y = Tensor("y", kind.shape, kind.dtype)
    for index, own in enumerate(_digits(call)):
        source = operand(call.tensor(index), f"x{index}")
        space = Space.of(**axes("i", source.shape))
        n, c, *positions = loops = list(space)
        spread = [place * stride + digit for place, stride, digit in zip(positions, strides, own, strict=True)]
        if 0 not in source.shape:
            nests.append(Nest(space, y[n, c, *spread], (source[*loops],)))
    return tuple(nests)


OPERATORS = (
    Operator(
        "Interleave", _infer, _evaluate, ("x...",), nests=_nests, domain=DOMAIN, codes=Moves(data=None, whole=True)
    ),
)
