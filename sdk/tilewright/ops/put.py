"""Put: one entry of a cache along an axis is written where a run-time position says; one outside writes nothing.

What exporters write as a `Where` with a one-hot mask; as one operator its result can be written where the cache lies.
The passes make it; no file contains it.
"""

from __future__ import annotations

from tilewright.model import Array
from tilewright.ops.operands import Arrays, given, needs_index, one_axis, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType
from tilewright.ops.relayout import DOMAIN


def put_axis(call: Call) -> int:
    """The axis along which the position counts."""
    return one_axis(call, call.integer("axis"), len(call.shape()))


def _infer(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 2)
    x, update, axis = call.tensor(0), call.tensor(1), put_axis(call)
    entry = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    if x.dtype is not update.dtype or update.shape != entry or call.tensor(2).elements != 1:
        raise call.invalid(f"an update of shape {update.shape} is no entry of {x.shape} along axis {axis}")
    return (same(call),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    written, axis = given(arrays, 0).copy(), put_axis(call)
    position = int(given(arrays, 2).reshape(-1)[0])
    if 0 <= position < written.shape[axis]:
        written.swapaxes(0, axis)[position] = given(arrays, 1).swapaxes(0, axis)[0]
    return (written,)


_OPERANDS = ("x", "update", "position")
OPERATORS = (Operator("Put", _infer, _evaluate, _OPERANDS, kind=Kind.OPAQUE, domain=DOMAIN, sketch="put"),)
