"""Slice with any steps, in the form of opset 10 (operands) and the older one (attributes)."""

from __future__ import annotations

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.facts import Range
from tilewright.ops.index.nest import Nest
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, listed, result, some_axes
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch


def ranges(call: Call) -> tuple[range, ...]:
    """For every axis of the operand the positions that are taken, clamped as the standard says."""
    shape = call.shape()
    starts, ends = listed(call, 1, "starts"), listed(call, 2, "ends")
    if starts is None or ends is None:
        raise call.invalid("starts or ends are missing")
    named = listed(call, 3, "axes")
    axes = some_axes(call, range(len(starts)) if named is None else named, len(shape))
    steps = listed(call, 4, "steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise call.invalid(f"starts {starts}, ends {ends}, axes {axes} and steps {steps} differ in length")
    if 0 in steps:
        raise call.invalid("a step is 0")
    positions = [range(size) for size in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        positions[axis] = range(*_clamped(start, end, step, shape[axis]), step)
    return tuple(positions)


def _clamped(start: int, end: int, step: int, size: int) -> tuple[int, int]:
    start, end = (start + size if start < 0 else start), (end + size if end < 0 else end)
    if step > 0:
        return min(max(start, 0), size), min(max(end, 0), size)
    return min(max(start, 0), size - 1), min(max(end, -1), size)


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (result(call, call.tensor(0).dtype, [len(positions) for positions in ranges(call)]),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    positions = (slice(r.start, None if r.stop < 0 else r.stop, r.step) for r in ranges(call))
    return (given(arrays, 0)[tuple(positions)],)


def _nests(call: Call) -> tuple[Nest, ...]:
    positions = ranges(call)
    shape = tuple(map(len, positions))
    return moved(call, shape, lambda loops: [i * r.step + r.start for i, r in zip(loops, positions, strict=True)])


def _copies(call: Call) -> tuple[Range, ...]:
    positions = ranges(call)
    if any(len(one) > 1 and one.step != 1 for one in positions):
        return ()
    return (Range(0, 0, tuple(one.start for one in positions), tuple(map(len, positions)), inward=False),)


def _keeps(call: Call) -> bool:
    return all(positions.step > 0 for positions in ranges(call))


_OPERANDS = ("x", "starts", "ends", "axes", "steps")
OPERATORS = (
    Operator(
        "Slice",
        _infer,
        _evaluate,
        _OPERANDS,
        nests=_nests,
        codes=Moves(),
        torch=Torch(writer="slice"),
        sketch="cut",
        keeps=_keeps,
        copies=_copies,
    ),
)
