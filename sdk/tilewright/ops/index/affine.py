"""Subscripts: integer expressions `floor((sum coeff * loop + const) / div)` over named loops.

The one outer division is all that ONNX needs beyond affine; it keeps every expression monotone in every loop, so its
range over a box is found at two corners. Whatever is not affine is a `Table` (see `table.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Range = tuple[int, int]
"""Half-open range `low, high` of a loop or of a tensor axis."""
Tile = dict[str, Range]
"""One half-open range per loop."""
Indices = npt.NDArray[np.int64]
Number = TypeVar("Number", int, Indices)


@dataclass(frozen=True)
class Affine:
    """One subscript. `terms` names only loops with a non-zero coefficient, in the order in which they were written."""

    terms: tuple[tuple[str, int], ...] = ()
    const: int = 0
    div: int = 1

    @staticmethod
    def loop(name: str) -> Affine:
        """The subscript that is this loop's own index."""
        return Affine(((name, 1),))

    @cached_property
    def coeffs(self) -> Mapping[str, int]:
        """Coefficient of every loop that moves the subscript."""
        return dict(self.terms)

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the loops that move the subscript."""
        return tuple(name for name, _ in self.terms)

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.const + other * self.div, self.div)
        if self.div != 1 and other.div != 1:
            raise ValueError(f"cannot add '{self}' and '{other}': only one may hold a floor division")
        if other.div != 1:
            return other + self
        other = other * self.div  # floor(a / d) + b == floor((a + d*b) / d)
        total = dict(self.terms)
        for name, coeff in other.terms:
            total[name] = total.get(name, 0) + coeff
        return Affine(tuple((n, c) for n, c in total.items() if c), self.const + other.const, self.div)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        if not isinstance(factor, int):
            raise TypeError(f"'({self}) * ({factor})' is not affine: one factor must be an integer")
        if self.div != 1:
            raise ValueError(f"cannot scale '{self}': a floor division must be outermost")
        return Affine(tuple((n, c * factor) for n, c in self.terms if factor), self.const * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + -other

    def __rsub__(self, other: int) -> Affine:
        return -self + other

    def __floordiv__(self, div: int) -> Affine:
        if div < 1:
            raise ValueError(f"cannot divide '{self}' by {div}: a divisor must be positive")
        return Affine(self.terms, self.const, self.div * div)

    def at(self, loops: Mapping[str, Number]) -> Number:
        """Value at a point; `loops` holds integers or broadcastable integer arrays."""
        value: Any = (sum(loops[n] * c for n, c in self.terms) + self.const) // self.div
        result: Number = value
        return result

    def hull(self, box: Mapping[str, Range]) -> Range:
        """Smallest range that holds the value at every point of `box`."""
        low = high = self.const
        for name, coeff in self.terms:
            ends = coeff * box[name][0], coeff * (box[name][1] - 1)
            low, high = low + min(ends), high + max(ends)
        return low // self.div, high // self.div + 1

    def extent(self, sizes: Mapping[str, Number]) -> Number:
        """Largest hull length over all tiles of these sizes (integers or arrays of candidates), before clipping."""
        span: Any = sum((sizes[n] - 1) * abs(c) for n, c in self.terms)
        length: Number = span + 1 if self.div == 1 else -(-span // self.div) + 1
        return length

    def __str__(self) -> str:
        parts = [n if c == 1 else f"-{n}" if c == -1 else f"{n}*{c}" for n, c in self.terms]
        parts += [str(self.const)] if self.const or not parts else []
        text = " + ".join(parts).replace("+ -", "- ")
        return text if self.div == 1 else f"({text}) // {self.div}"
