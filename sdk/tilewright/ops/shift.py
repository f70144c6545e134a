"""Shift: a window over time moves on. The oldest entries along an axis go, an update takes its place at the other end.

What exporters write as a `Concat` of a `Slice`; as one operator its result can be written where the window lies. The
passes make it; no file contains it.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, one_axis, same
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.relayout import DOMAIN


def shift_axis(call: Call) -> int:
    """The axis along which the window moves."""
    return one_axis(call, call.integer("axis"), len(call.shape()))


def newest_first(call: Call) -> bool:
    """True where the update comes before what is left of the window, not behind it."""
    return bool(call.integer("newest_first", 0))


def _infer(call: Call) -> tuple[TensorType, ...]:
    x, update, axis = call.tensor(0), call.tensor(1), shift_axis(call)
    alike = len(x.shape) == len(update.shape) and x.dtype is update.dtype
    if not alike or any(
        not (0 < k <= n) if place == axis else k != n
        for place, (k, n) in enumerate(zip(update.shape, x.shape, strict=True))
    ):
        raise call.invalid(f"an update of shape {update.shape} does not fit a window of {x.shape}")
    return (same(call),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, update, axis = given(arrays, 0), given(arrays, 1), shift_axis(call)
    count = update.shape[axis]
    if newest_first(call):
        return (np.concatenate([update, np.take(x, range(x.shape[axis] - count), axis)], axis),)
    return (np.concatenate([np.take(x, range(count, x.shape[axis]), axis), update], axis),)


def _nests(call: Call) -> tuple[Nest, ...]:
    axis, x, update = shift_axis(call), operand(call.tensor(0), "x"), operand(call.tensor(1), "update")
    y, count = Tensor("y", x.shape, x.dtype), update.shape[axis]
    left = x.shape[axis] - count
    first = newest_first(call)
    nests = []
    for source, size, read, written in (
        (x, left, 0 if first else count, count if first else 0), (update, count, 0, 0 if first else left),
    ):  # fmt: skip
        shape = tuple(size if place == axis else extent for place, extent in enumerate(x.shape))
        if 0 in shape:
            continue
        space = Space.of(**axes("i", shape))
        loops = list(space)
        from_, to = (
            [loop + at if place == axis else loop for place, loop in enumerate(loops)] for at in (read, written)
        )
        nests.append(Nest(space, y[*to], (source[*from_],)))
    return tuple(nests)


OPERATORS = (
    Operator(
        "Shift", _infer, _evaluate, ("x", "update"), nests=_nests, domain=DOMAIN, codes=Moves(data=None, whole=True),
        sketch="shift",
    ),
)  # fmt: skip
