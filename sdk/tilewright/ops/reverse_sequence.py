"""ReverseSequence: the first elements along the time axis turned around, as many as each batch entry says."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.facts import Reads, lengths
from tilewright.ops.gather import element_positions
from tilewright.ops.operands import Arrays, given, needs_index, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType


def sequence_axes(call: Call) -> tuple[int, int]:
    """The batch axis and the time axis: 0 and 1 in one order or the other."""
    batch, time = call.integer("batch_axis", 1), call.integer("time_axis", 0)
    if {batch, time} != {0, 1} or len(call.shape()) < 2:
        raise call.invalid(f"batch_axis {batch} and time_axis {time} must be 0 and 1 of {call.shape()}")
    return batch, time


def _infer(call: Call) -> tuple[TensorType, ...]:
    needs_index(call, 1)
    batch, _ = sequence_axes(call)
    if call.shape(1) != (call.shape()[batch],):
        raise call.invalid(f"lengths {call.shape(1)} do not fit axis {batch} of {call.shape()}")
    return (same(call),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, lengths = given(arrays, 0), given(arrays, 1)
    batch, time = sequence_axes(call)
    if lengths.size and not 0 <= int(lengths.min()) <= int(lengths.max()) <= x.shape[time]:
        raise call.outside(1, f"a length lies outside [0, {x.shape[time]}]")
    per_entry = np.expand_dims(lengths.astype(np.int64), time)
    steps = np.expand_dims(np.arange(x.shape[time]), batch)
    places = np.where(steps < per_entry, per_entry - 1 - steps, steps)
    places = np.broadcast_to(places.reshape(*places.shape, *(1,) * (x.ndim - 2)), x.shape)
    return (x[element_positions(places, time)],)


def _reads(call: Call, operand: int) -> Reads | None:
    return lengths(call.shape()[call.integer("time_axis", 0)]) if operand == 1 else None


_OPERANDS = ("x", "sequence_lens")
OPERATORS = (
    Operator("ReverseSequence", _infer, _evaluate, _OPERANDS, kind=Kind.OPAQUE, sketch="sequences", reads=_reads),
)
