"""Which ranges of whose bytes an operator that only moves would copy, as `copies` of the operator says.

Where such a range is one run of bytes and lies in both tensors in the same order, nothing need be moved.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.model import Shape, Tensor
from tilewright.ops.facts import Range
from tilewright.ops.operator import Call


def ranges_of(call: Call) -> tuple[Range, ...]:
    """The ranges that the call copies, one for every operand or result; none where it does anything else."""
    if call.node.clamp is not None or call.operator is None or call.operator.copies is None:
        return ()
    try:
        return call.operator.copies(call)
    except TilewrightError:  # an operand that is only known at run time says where to copy from
        return ()


def same_kind(a: Tensor, b: Tensor) -> bool:
    """True where equal bytes are equal values: one type of whole bytes, one scale."""
    return (a.dtype, a.quantisation) == (b.dtype, b.quantisation) and a.dtype.bits % 8 == 0


def start_of(part: Range, outer: tuple[Layout, Shape], inner: Layout) -> int | None:
    """Elements from the start of the larger tensor to that of the range; None where it is not one run in one order."""
    large, small = outer[0].axis_strides(outer[1]), inner.axis_strides(part.shape)
    if large is None or small is None or 0 in part.shape:
        return None
    for size, a, b in zip(part.shape, large, small, strict=True):
        if size > 1 and a != b:
            return None
    return sum(low * stride for low, stride in zip(part.low, large, strict=True))


def gaps(taken: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The (start, length) runs of [0, size) that ranges (start, length) leave out."""
    gaps, at = [], 0
    for start, length in sorted(taken):
        if start > at:
            gaps.append((at, start - at))
        at = max(at, start + length)
    return [*gaps, (at, size - at)] if at < size else gaps
