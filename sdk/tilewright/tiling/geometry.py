"""Sizes of tiles along every axis, exactly, for all tiles at once: what candidates are counted with.

An operand's tile is a box; along each of its axes the range depends on few cut loops only, through the chain of
stages. So lengths are tabulated per axis and multiplied, and never more than one axis is enumerated at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Subscript, mesh
from tilewright.tiling.schedule import Operand, Stage

Ints = npt.NDArray[np.int64]
Ranges = tuple[Ints, Ints]


def clipped(sub: Subscript, ranges: Mapping[str, Ranges], size: int) -> Ranges:
    """First and last element (exclusive) that a subscript touches inside [0, size), for arrays of loop ranges."""
    shape = np.broadcast_shapes(*(low.shape for low, _ in ranges.values())) if ranges else ()
    if isinstance(sub, Affine):
        low: Any = np.full(shape, sub.const, np.int64)
        high: Any = np.full(shape, sub.const, np.int64)
        for name, coeff in sub.terms:
            first, last = ranges[name][0] * coeff, (ranges[name][1] - 1) * coeff
            low, high = low + np.minimum(first, last), high + np.maximum(first, last)
        low, high = np.asarray(low // sub.div), np.asarray(high // sub.div + 1)
        outside = (low < 0) | (high > size)
        if not outside.any():
            return low, high
        if _dense(sub, ranges):
            low, high = np.maximum(low, 0), np.minimum(high, size)
            empty = low >= high
            return np.where(empty, 0, low), np.where(empty, 0, high)
        odd = np.argwhere(outside)
    else:
        low, high = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        odd = np.argwhere(np.ones(shape, bool))
    spread = {name: (np.broadcast_to(a, shape), np.broadcast_to(b, shape)) for name, (a, b) in ranges.items()}
    for place in map(tuple, odd):  # a stride may step over the edge, so look at the values themselves
        box = {name: (int(a[place]), int(b[place])) for name, (a, b) in spread.items()}
        values = np.asarray(sub.at(mesh({n: box[n] for n in sub.loops})))
        inside = values[(values >= 0) & (values < size)]
        low[place], high[place] = (int(inside.min()), int(inside.max()) + 1) if inside.size else (0, 0)
    return low, high


def _dense(sub: Affine, ranges: Mapping[str, Ranges]) -> bool:
    """True where the subscript takes every value between its first and its last, in every tile."""
    span = sub.div
    for coeff, name in sorted((abs(c), n) for n, c in sub.terms):
        if coeff > span:
            return False
        low, high = ranges[name]
        span += coeff * max(0, int((high - low).min()) - 1)
    return True


@dataclass(frozen=True)
class FusedChain:
    """Stages whose last one is cut; asked for ranges of loops and axes as arrays over tiles."""

    stages: tuple[Stage, ...]

    def loop_range(self, number: int, loop: str, final: Mapping[str, Ranges]) -> Ranges:
        """Range of a loop of stage `number` for tiles of the last stage."""
        stage = self.stages[number]
        if number == len(self.stages) - 1:
            return final.get(loop) or (np.asarray(0), np.asarray(stage.extents[loop]))
        if loop in stage.feeds:
            return self.axis_range(number + 1, self.read(number), stage.feeds[loop], final)
        return np.asarray(0), np.asarray(stage.extents[loop])

    def read(self, number: int) -> Operand:
        """How stage `number + 1` reads the local result of stage `number`."""
        local = self.stages[number].local()
        assert local is not None
        return next(o for o in self.stages[number + 1].operands if o.key == local.key)

    def axis_range(self, number: int, operand: Operand, axis: int, final: Mapping[str, Ranges]) -> Ranges:
        """Range of an axis of an operand of stage `number`, hull over its accesses."""
        hull: Ranges | None = None
        for access in operand.accesses:
            sub = access.subscripts[axis]
            ranges = {loop: self.loop_range(number, loop, final) for loop in sub.loops}
            low, high = clipped(sub, ranges, operand.shape[axis])
            hull = (low, high) if hull is None else (np.minimum(hull[0], low), np.maximum(hull[1], high))
        assert hull is not None
        return hull

    def axis_loops(self, number: int, operand: Operand, axis: int) -> tuple[str, ...]:
        """Loops of the last stage that move an axis, in the order of its extents."""
        moved: set[str] = set()
        for access in operand.accesses:
            for loop in access.subscripts[axis].loops:
                moved |= self._sources(number, loop)
        return tuple(name for name in self.stages[-1].extents if name in moved)

    def _sources(self, number: int, loop: str) -> set[str]:
        if number == len(self.stages) - 1:
            return {loop}
        stage = self.stages[number]
        if loop not in stage.feeds:
            return set()
        return set(self.axis_loops(number + 1, self.read(number), stage.feeds[loop]))

    def ranges(self, sizes: Mapping[str, int], loops: Sequence[str]) -> dict[str, Ranges]:
        """Ranges of all tiles along `loops`, broadcastable against each other, in the order given."""
        ranges = {}
        for place, name in enumerate(loops):
            extent = self.stages[-1].extents[name]
            low = np.arange(0, extent, sizes[name], dtype=np.int64)
            view = [1] * len(loops)
            view[place] = len(low)
            ranges[name] = (low.reshape(view), np.minimum(low + sizes[name], extent).reshape(view))
        return ranges

    def axis_lengths(self, number: int, operand: Operand, axis: int, sizes: Mapping[str, int]) -> Ints:
        """Lengths of an axis over all tiles of the loops that move it; shape as their trip counts."""
        loops = [name for name in self.axis_loops(number, operand, axis) if name in sizes]
        low, high = self.axis_range(number, operand, axis, self.ranges(sizes, loops))
        trips = tuple(-(-self.stages[-1].extents[n] // sizes[n]) for n in loops)
        return np.broadcast_to(np.maximum(high - low, 0), trips)


def pieces(lengths: Sequence[Any], shape: Sequence[int], axes: Sequence[int], ranks: int) -> tuple[Any, Any]:
    """Contiguous runs of boxes with these lengths per axis (integers or arrays), and commands to copy them.

    One command of an engine strides over `ranks - 1` repeats of a run, as in `Transfer.commands`.
    """
    running: Any = np.asarray(True)
    joined: Any = np.asarray(False)
    level: Any = np.asarray(0)
    runs: Any = np.asarray(1)
    orders: Any = np.asarray(1)
    for axis in reversed(axes):
        if shape[axis] == 1:
            continue
        count = np.asarray(lengths[axis])
        full = count == shape[axis]
        repeats = ~running & (count > 1)
        level = level + (repeats & ~joined)
        runs = np.where(repeats, runs * count, runs)
        orders = np.where(repeats & (level >= ranks), orders * count, orders)
        joined = ~running & full & (repeats | joined)
        running = running & full
    return runs, orders
