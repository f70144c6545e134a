"""Trilu: the upper or lower triangle of the last two axes, zero elsewhere."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.index.body import body
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, integer_scalar, same, zero_code
from tilewright.ops.operator import Adjoint, Call, Operator, TensorType
from tilewright.ops.torch import Torch


def diagonal(call: Call) -> int:
    """How far above the main diagonal the triangle begins; limited to the matrix."""
    rows, columns = call.shape()[-2:]
    k = 0 if call.optional(1) is None else integer_scalar(call, 1, "k")
    return max(-rows, min(columns, k))


def _infer(call: Call) -> tuple[TensorType, ...]:
    if len(call.shape()) < 2:
        raise call.invalid(f"Trilu needs at least 2 axes, not {call.shape()}")
    diagonal(call)
    return (same(call),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, k = given(arrays, 0), diagonal(call)
    rows, columns = np.ogrid[: x.shape[-2], : x.shape[-1]]
    inside = columns - rows >= k if call.integer("upper", 1) else columns - rows <= k
    return (np.where(inside, x, np.asarray(zero_code(call)).astype(x.dtype)),)


def _nests(call: Call) -> tuple[Nest, ...]:
    """A constant `kept` over the diagonals decides between the operand and zero."""
    shape, k = call.shape(), diagonal(call)
    if 0 in shape:
        return ()
    rows, columns = shape[-2:]
    upper = bool(call.integer("upper", 1))
    factors = tuple(float(place >= k if upper else place <= k) for place in range(1 - rows, columns))
    space = Space.of(**axes("i", shape))
    loops = list(space)
    x = operand(call.tensor(0), "x")
    mask, zero = Tensor("kept", (len(factors),), DType.BOOL, factors), Tensor("zero", (1,), x.dtype, (zero_code(call),))
    choice = (mask[loops[-1] - loops[-2] + (rows - 1)], x[*loops], zero[0])
    return (Nest(space, Tensor("y", shape, x.dtype)[*loops], choice, body("where")),)


def _gradient(a: Adjoint, index: int) -> str:
    """The same triangle of the gradient."""
    if index:
        return ""
    further = [a.x(1)] if a.call.optional(1) is not None else []
    return a.op("Trilu", a.dy, *further, upper=a.call.integer("upper", 1))


OPERATORS = (
    Operator(
        "Trilu",
        _infer,
        _evaluate,
        ("x", "k"),
        nests=_nests,
        torch=Torch(writer="trilu"),
        gradient=_gradient,
    ),
)
