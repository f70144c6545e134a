"""Softmax, LogSoftmax and Hardmax: chains over the same rows, the axis whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.check import given, one_axis, ranked, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Exponentials
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import axes, indices, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operator import Adjoint, Call, Operator, TensorType
from tilewright.ops.torch import Torch


def reduced_axes(call: Call) -> tuple[int, ...]:
    """The axes that one distribution runs over: one, or before opset 13 all from `axis` on."""
    rank = len(ranked(call, 0, 0))
    if call.opset >= 13:
        return (one_axis(call, rank, -1),) if rank else ()
    axis = call.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise call.invalid(f"axis {axis} is outside of a tensor with {rank} axes")
    return tuple(range(axis + rank if axis < 0 else axis, rank))


def infer(call: Call) -> tuple[TensorType, ...]:
    """Type and shape of the operand."""
    x = typed(call, 0)
    reduced_axes(call)
    return (TensorType(x.dtype, x.shape),)


def _rows(call: Call, x: Array) -> tuple[Array, Callable[[Array], Array]]:
    """The array with the reduced axes flattened at the end, and the way back."""
    over = reduced_axes(call)
    remaining = tuple(axis for axis in range(x.ndim) if axis not in over)
    turned = x.transpose(*remaining, *over)
    flat = turned.reshape(prod(x.shape[a] for a in remaining), -1 if x.size else prod(x.shape[a] for a in over))
    back = np.argsort((*remaining, *over))
    return flat, lambda rows: np.asarray(rows.reshape(turned.shape).transpose(back))


def softmax_rows(x: Array) -> Array:
    """Distribution over the last axis of a real matrix, in its own type."""
    raised = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def log_softmax_rows(x: Array) -> Array:
    """Logarithm of the distribution over the last axis of a real matrix."""
    lowered = x - x.max(axis=1, keepdims=True)
    return np.asarray(lowered - np.log(np.exp(lowered).sum(axis=1, keepdims=True)))


def hardmax_rows(x: Array) -> Array:
    """One at the first largest element of every row, else zero; NaN is larger than all numbers."""
    best: Array = x.argmax(axis=1)[:, None]
    return np.equal(np.arange(x.shape[1]), best).astype(x.dtype)


def _evaluating(of_rows: Callable[[Array], Array]) -> Callable[[Call, Sequence[Array | None]], tuple[Array, ...]]:
    def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        x = given(arrays[0], call, 0)
        rows, back = _rows(call, widened(x))
        with np.errstate(all="ignore"):
            result = back(of_rows(rows)) if x.size else x
        return (np.asarray(clamped(call, result).astype(x.dtype), order="C"),)

    return evaluate


def _parts(call: Call) -> tuple[Space, list[Affine], list[Affine], Shape]:
    """Space, subscripts of the operand, subscripts of what remains of a row, shape of that."""
    shape, over = call.shape(0), reduced_axes(call)
    space = Space.of(**axes("i", shape))
    loops = list(space)
    remaining = [axis for axis in range(len(shape)) if axis not in over]
    return space, loops, [loops[a] for a in remaining], tuple(shape[a] for a in remaining)


def _softmax_nests(call: Call) -> tuple[Nest, ...]:
    """Maximum, exponentials, their sum, quotients."""
    space, full, row, rows = _parts(call)
    x = operand(call.tensor(0), "x")
    largest, raised, total = (
        Tensor("largest", rows, x.dtype),
        Tensor("raised", x.shape, x.dtype),
        Tensor("total", rows, x.dtype),
    )
    return (
        Nest(space, largest[*row], (x[*full],), body("copy"), combine("max")),
        Nest(space, raised[*full], (x[*full], largest[*row]), body("exp_sub")),
        Nest(space, total[*row], (raised[*full],), body("copy"), combine("add")),
        Nest(space, Tensor("y", x.shape, x.dtype)[*full], (raised[*full], total[*row]), body("div")),
    )


def _log_softmax_nests(call: Call) -> tuple[Nest, ...]:
    """Maximum, logarithm of the sum of exponentials, differences."""
    space, full, row, rows = _parts(call)
    x = operand(call.tensor(0), "x")
    largest, logarithm = Tensor("largest", rows, x.dtype), Tensor("logarithm", rows, x.dtype)
    y = Tensor("y", x.shape, x.dtype)
    return (
        Nest(space, largest[*row], (x[*full],), body("copy"), combine("max")),
        Nest(space, logarithm[*row], (x[*full], largest[*row]), body("exp_sub"), combine("add"), finish("log")),
        Nest(space, y[*full], (x[*full], largest[*row], logarithm[*row]), body("sub_sub")),
    )


def _hardmax_nests(call: Call) -> tuple[Nest, ...]:
    """Maximum, first index of it, comparison."""
    space, full, row, rows = _parts(call)
    x = operand(call.tensor(0), "x")
    largest, first = Tensor("largest", rows, x.dtype), Tensor("first", rows, DType.I64)
    places = indices("place", x.shape)
    far = np.iinfo(np.int64).max
    picked = (x[*full], largest[*row], places[*full])
    return (
        Nest(space, largest[*row], (x[*full],), body("copy"), combine("max")),
        Nest(space, first[*row], picked, body("select_equal", far), combine("min")),
        Nest(space, Tensor("y", x.shape, x.dtype)[*full], (places[*full], first[*row]), body("equal")),
    )


def _softmax_gradient(a: Adjoint, index: int) -> str:
    """`(dy - sum(dy * y)) * y`."""
    return a.mul(a.sub(a.dy, a.sum(a.mul(a.dy, a.y), reduced_axes(a.call))), a.y)


def _log_softmax_gradient(a: Adjoint, index: int) -> str:
    """`dy - sum(dy) * exp(y)`."""
    return a.sub(a.dy, a.mul(a.sum(a.dy, reduced_axes(a.call)), a.op("Exp", a.y)))


OPERATORS = (
    Operator(
        "Softmax",
        infer,
        _evaluating(softmax_rows),
        ("x",),
        nests=_softmax_nests,
        codes=Exponentials(),
        torch=Torch(writer="softmax"),
        sketch="along",
        gradient=_softmax_gradient,
    ),
    Operator(
        "LogSoftmax",
        infer,
        _evaluating(log_softmax_rows),
        ("x",),
        nests=_log_softmax_nests,
        torch=Torch(writer="softmax"),
        sketch="along",
        gradient=_log_softmax_gradient,
    ),
    Operator("Hardmax", infer, _evaluating(hardmax_rows), ("x",), nests=_hardmax_nests, sketch="along"),
)
