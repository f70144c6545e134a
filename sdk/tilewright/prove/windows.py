"""Which codes meet which weights: convolutions and matrix products as rows of code numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ops.operator import Call

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """`weights` [channel, tap]; `taps` [place, tap] of code numbers, -1 outside; `elements_at` [place, channel in it].

    Of `groups` groups each has the same number of channels; a place belongs to one group. `elements_at` says which
    element of the result, in logical order, a channel of a place is.
    """

    weights: Numbers
    taps: Numbers
    group_of: Numbers
    elements_at: Numbers

    @property
    def elements(self) -> int:
        """Elements of the result."""
        return self.elements_at.size

    def rows(self) -> Iterator[tuple[int, Numbers]]:
        """Every place with the code numbers that its sums read."""
        yield from enumerate(self.taps)

    def at(self, place: int) -> Iterator[tuple[int, int]]:
        """(channel, element) of a place."""
        first = int(self.group_of[place]) * self.elements_at.shape[1]
        for channel, element in enumerate(self.elements_at[place]):
            yield first + channel, int(element)


def windows_of(call: Call, numbers: Numbers, weights: Numbers) -> Windows | None:
    """The windows of a Conv, Gemm or MatMul; None for a form that is not known here."""
    if call.node.op == "Conv":
        return _convolution(call, numbers, weights)
    if call.node.op == "Gemm":
        if call.real("alpha", 1.0) != 1.0 or call.real("beta", 1.0) != 1.0:
            return None
        left = numbers.T if call.integer("transA", 0) else numbers
        right = weights if call.integer("transB", 0) else weights.T
        return _matrix(left, right)
    if call.node.op == "MatMul" and weights.ndim == 2 and numbers.ndim >= 2:
        return _matrix(numbers.reshape(-1, numbers.shape[-1]), weights.T)
    return None


def _matrix(left: Numbers, rows: Numbers) -> Windows:
    places, channels = left.shape[0], rows.shape[0]
    elements = np.arange(places * channels).reshape(places, channels)
    return Windows(np.ascontiguousarray(rows), left, np.zeros(places, np.int64), elements)


def _begins(call: Call, kernel: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[list[int], list[int]] | None:
    """Elements before and behind the operand by axis."""
    rank = len(kernel)
    form = call.text("auto_pad", "NOTSET")
    if form in ("NOTSET", "VALID"):
        pads = call.integers("pads", (0,) * 2 * rank)
        return list(pads[:rank]), list(pads[rank:])
    if form not in ("SAME_UPPER", "SAME_LOWER"):
        return None
    strides, dilations = _steps(call, rank)
    before, behind = [], []
    for size, taps, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        reach = (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1
        total = max(0, reach - size)
        before.append(total // 2 if form == "SAME_UPPER" else total - total // 2)
        behind.append(total - before[-1])
    return before, behind


def _steps(call: Call, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return call.integers("strides", (1,) * rank), call.integers("dilations", (1,) * rank)


def _convolution(call: Call, numbers: Numbers, weights: Numbers) -> Windows | None:
    kernel, groups = weights.shape[2:], call.integer("group", 1)
    pads = _begins(call, kernel, numbers.shape[2:])
    if pads is None:
        return None
    strides, dilations = _steps(call, len(kernel))
    wide = np.pad(numbers, [(0, 0), (0, 0), *zip(*pads, strict=True)], constant_values=-1)
    counts = [
        (size - (taps - 1) * dilation - 1) // stride + 1
        for size, taps, stride, dilation in zip(wide.shape[2:], kernel, strides, dilations, strict=True)
    ]
    reads = [
        (np.arange(count) * stride)[:, None] + (np.arange(taps) * dilation)[None, :]
        for count, stride, taps, dilation in zip(counts, strides, kernel, dilations, strict=True)
    ]
    batch, channels = numbers.shape[0], weights.shape[0]
    per_group, width = channels // groups, weights.shape[1]
    taps, elements, group_of = [], [], []
    spatial = int(np.prod(counts))
    result = np.arange(batch * channels * spatial).reshape(batch, channels, spatial)
    for sample in range(batch):
        for group in range(groups):
            part = wide[sample, group * width : (group + 1) * width]
            taps.append(_unfolded(part, reads, spatial))
            elements.append(result[sample, group * per_group : (group + 1) * per_group].T)
            group_of.append(np.full(spatial, group, np.int64))
    return Windows(
        weights.reshape(channels, -1), np.concatenate(taps), np.concatenate(group_of), np.concatenate(elements)
    )  # fmt: skip


def _unfolded(part: Numbers, reads: list[Numbers], spatial: int) -> Numbers:
    """[place, channel and taps] of one group of one sample."""
    rank = len(reads)
    index: list[Any] = [slice(None)]
    for axis, read in enumerate(reads):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = read.shape
        index.append(read.reshape(shape))
    taken: Numbers = part[tuple(index)]  # channel, places..., taps...
    unfolded: Numbers = np.moveaxis(taken, 0, rank).reshape(spatial, -1)
    return unfolded
