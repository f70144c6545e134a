"""Which ranges of whose bytes an operator that only moves would copy: Concat, Split, Slice, Gather and Pad.

Where such a range is one run of bytes and lies in both tensors in the same order, nothing need be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.model import Shape, Tensor
from tilewright.ops.concat import concat_axis
from tilewright.ops.gather import gather_axis
from tilewright.ops.operator import Call
from tilewright.ops.pad import amounts
from tilewright.ops.slice import ranges
from tilewright.ops.split import parts


@dataclass(frozen=True)
class Range:
    """The box of `shape` at `low` of the larger tensor is the smaller one; `inward` where the operand is the smaller.

    `operand` and `result` are places among the call's own.
    """

    operand: int
    result: int
    low: tuple[int, ...]
    shape: Shape
    inward: bool


def ranges_of(call: Call) -> tuple[Range, ...]:
    """The ranges that the call copies, one for every operand or result; none where it does anything else."""
    if call.node.clamp is not None or call.node.domain:
        return ()
    find = _FINDERS.get(call.node.op)
    try:
        return find(call) if find is not None else ()
    except TilewrightError:  # an operand that is only known at run time says where to copy from
        return ()


def same_kind(a: Tensor, b: Tensor) -> bool:
    """True where equal bytes are equal values: one type of whole bytes, one scale."""
    return (a.dtype, a.quantisation) == (b.dtype, b.quantisation) and a.dtype.bits % 8 == 0


def start_of(found: Range, outer: tuple[Layout, Shape], inner: Layout) -> int | None:
    """Elements from the start of the larger tensor to that of the range; None where it is not one run in one order."""
    large, small = outer[0].axis_strides(outer[1]), inner.axis_strides(found.shape)
    if large is None or small is None or 0 in found.shape:
        return None
    for size, a, b in zip(found.shape, large, small, strict=True):
        if size > 1 and a != b:
            return None
    return sum(low * stride for low, stride in zip(found.low, large, strict=True))


def _concat(call: Call) -> tuple[Range, ...]:
    axis, at, found = concat_axis(call), 0, []
    for index in range(len(call.inputs)):
        shape = call.shape(index)
        found.append(Range(index, 0, _along(axis, at, len(shape)), shape, True))
        at += shape[axis]
    return tuple(found)


def _split(call: Call) -> tuple[Range, ...]:
    axis, sizes = parts(call)
    starts = list(accumulate(sizes, initial=0))
    rank = len(call.shape())
    return tuple(
        Range(0, place, _along(axis, starts[index], rank), call.outputs[place].shape, False)
        for place, index in enumerate(call.present)
    )


def _slice(call: Call) -> tuple[Range, ...]:
    taken = ranges(call)
    if any(len(one) > 1 and one.step != 1 for one in taken):
        return ()
    return (Range(0, 0, tuple(one.start for one in taken), tuple(map(len, taken)), False),)


def _gather(call: Call) -> tuple[Range, ...]:
    axis, shape = gather_axis(call), call.shape()
    indices = [int(index) % shape[axis] for index in call.constant(1, "indices").reshape(-1)]
    if not indices or indices != list(range(indices[0], indices[0] + len(indices))):
        return ()
    box = (*shape[:axis], len(indices), *shape[axis + 1 :])
    return (Range(0, 0, _along(axis, indices[0], len(shape)), box, False),)


def _pad(call: Call) -> tuple[Range, ...]:
    added = amounts(call)
    if call.text("mode", "constant") != "constant" or any(before < 0 or after < 0 for before, after in added):
        return ()
    return (Range(0, 0, tuple(before for before, _ in added), call.shape(), True),)


def _along(axis: int, at: int, rank: int) -> tuple[int, ...]:
    return tuple(at if place == axis else 0 for place in range(rank))


_FINDERS = {"Concat": _concat, "Split": _split, "Slice": _slice, "Gather": _gather, "Pad": _pad}


def gaps(taken: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The (start, length) runs of [0, size) that ranges (start, length) leave out."""
    found, at = [], 0
    for start, length in sorted(taken):
        if start > at:
            found.append((at, start - at))
        at = max(at, start + length)
    return [*found, (at, size - at)] if at < size else found
