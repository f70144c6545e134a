"""How a tensor lies in memory, as a permutation of the digits of its flat index.

The logical flat index of an element (row-major over the shape) is written in mixed radix `digits`, most significant
first; memory stores the digits in `order`, outermost first. Because only the flat index counts, a Reshape keeps the
layout and a Transpose changes it without moving a byte. Canonical form: no digit of extent 1, neighbours that stay
neighbours are merged, so equal layouts compare equal and the row-major layout of n elements is `((n,), (0,))`.

    >>> Layout.of_axes((1, 3, 4, 5), (0, 2, 3, 1))      # channels last
    Layout(digits=(3, 20), order=(1, 0))
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path

import numpy as np

from tilewright.model import Array, Shape


@dataclass(frozen=True)
class RowMoves:
    """How a core moves rows that lie side by side: the C function `function(to, from, bytes)` of the file `header`, and
    its instructions for a row and for each of its bytes."""

    function: str
    header: Path
    row_cost: float
    byte_cost: float


@dataclass(frozen=True)
class Layout:
    """Canonical memory order of the digits of a flat index; build it with `default`, `of_axes` or `canonical`."""

    digits: tuple[int, ...]
    order: tuple[int, ...]

    @staticmethod
    @lru_cache(maxsize=4096)
    def canonical(digits: tuple[int, ...], order: tuple[int, ...]) -> Layout:
        """Drop digits of extent 1 and merge neighbours that stay neighbours."""
        moving = [d for d in range(len(digits)) if digits[d] != 1]
        rank = {d: i for i, d in enumerate(moving)}
        sizes = [digits[d] for d in moving]
        sequence = [rank[d] for d in order if d in rank]
        groups: list[list[int]] = []
        for d in sequence:
            if groups and groups[-1][-1] + 1 == d:
                groups[-1].append(d)
            else:
                groups.append([d])
        starts = sorted(range(len(groups)), key=lambda g: groups[g][0])
        position = {g: i for i, g in enumerate(starts)}
        merged = tuple(prod(sizes[d] for d in groups[g]) for g in starts)
        if not merged:
            return Layout((1,), (0,))
        return Layout(merged, tuple(position[g] for g in range(len(groups))))

    @staticmethod
    def default(shape: Shape) -> Layout:
        """Row-major."""
        return Layout.canonical((prod(shape),), (0,))

    @staticmethod
    def of_axes(shape: Shape, order: tuple[int, ...]) -> Layout:
        """The axes of `shape` stored in `order`, outermost first; (0, 2, 3, 1) is channels last for rank four."""
        if prod(shape) == 0:
            return Layout.default(shape)
        return Layout.canonical(tuple(shape), tuple(order))

    @staticmethod
    def channels_last(shape: Shape) -> Layout:
        """Axis 1 innermost; row-major for ranks below three."""
        if len(shape) < 3:
            return Layout.default(shape)
        return Layout.of_axes(shape, (0, *range(2, len(shape)), 1))

    @property
    def is_default(self) -> bool:
        """True if memory order is row-major."""
        return len(self.order) == 1

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.digits)

    def axis_strides(self, shape: Shape) -> tuple[int, ...] | None:
        """Elements between neighbours along each axis of `shape`, or None where an axis has no single stride."""
        refined = self.refine(tuple(shape))
        if refined is None:
            return None
        digits, order = refined
        stride, strides = 1, [0] * len(digits)
        for d in reversed(order):
            strides[d] = stride
            stride *= digits[d]
        result, at = [], 0
        for size in shape:
            taken: list[int] = []
            left = size
            while left > 1:
                taken.append(at)
                left //= digits[at]
                at += 1
            if not taken:
                result.append(0)
                continue
            inner = taken[-1]
            run = 1
            for d in reversed(taken):
                if strides[d] != strides[inner] * run:
                    return None
                run *= digits[d]
            result.append(strides[inner])
        return tuple(result)

    def refine(self, shape: Shape) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Split the digits so that every axis of `shape` is a run of whole digits; None where they do not divide."""
        total = prod(shape)
        if total != self.elements or total == 0:
            return None
        weights = {1}
        for sizes in (self.digits, tuple(shape)):
            weight = 1
            for size in reversed(sizes):
                weight *= size
                weights.add(weight)
        marks = sorted(weights, reverse=True)
        if any(outer % inner for outer, inner in itertools.pairwise(marks)):
            return None
        digits = tuple(outer // inner for outer, inner in itertools.pairwise(marks))
        bounds, weight = [], total
        for size in self.digits:
            bounds.append((weight, weight // size))
            weight //= size
        order: list[int] = []
        for d in self.order:
            high, low = bounds[d]
            order += [i for i, mark in enumerate(marks[1:]) if low <= mark < high]
        return digits, tuple(order)

    def transpose(self, shape: Shape, perm: tuple[int, ...]) -> Layout | None:
        """Layout of `y = transpose(x, perm)` on the same bytes, x of this layout and `shape`; None if inexpressible."""
        if prod(shape) == 0:
            return Layout.default(shape)
        refined = self.refine(shape)
        if refined is None:
            return None
        digits, order = refined
        groups: list[list[int]] = []
        at = 0
        for size in shape:
            group, left = [], size
            while left > 1:
                group.append(at)
                left //= digits[at]
                at += 1
            groups.append(group)
        sequence = [d for axis in perm for d in groups[axis]]
        place = {d: i for i, d in enumerate(sequence)}
        return Layout.canonical(tuple(digits[d] for d in sequence), tuple(place[d] for d in order if d in place))

    def pack(self, array: Array) -> Array:
        """The elements of a logical array in memory order, flat."""
        if self.is_default:
            return np.ascontiguousarray(array).reshape(-1)
        return np.ascontiguousarray(array.reshape(self.digits).transpose(self.order)).reshape(-1)

    def unpack(self, flat: Array, shape: Shape) -> Array:
        """The logical array of `shape` whose elements lie flat in memory order."""
        if self.is_default:
            return flat.reshape(shape)
        stored = flat.reshape([self.digits[d] for d in self.order])
        return np.ascontiguousarray(stored.transpose(np.argsort(self.order))).reshape(shape)

    def __str__(self) -> str:
        if self.is_default:
            return "row-major"
        return "x".join(map(str, self.digits)) + " stored " + ",".join(map(str, self.order))
