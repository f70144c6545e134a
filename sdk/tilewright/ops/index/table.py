"""A subscript that is read from a table over one loop: Resize, reflected padding, constant indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np

from tilewright.ops.index.affine import Affine, Indices, Number, Range

ZERO = Affine()


@dataclass(frozen=True)
class Table:
    """The subscript `values[loop] + offset`. A resize of rows is monotone; constant indices of a Gather need not be."""

    name: str
    loop: str
    values: tuple[int, ...]
    offset: Affine = ZERO

    @staticmethod
    def over(name: str, loop: Affine, values: tuple[int, ...]) -> Table:
        """The table `name[loop]`; ValueError where `loop` is more than a plain loop."""
        if len(loop.terms) != 1 or loop != Affine.loop(loop.terms[0][0]):
            raise ValueError(f"a table is read by one plain loop, not by '{loop}'")
        return Table(name, loop.terms[0][0], tuple(int(v) for v in values))

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the loops that move the subscript."""
        return tuple(dict.fromkeys((self.loop, *self.offset.loops)))

    @property
    def monotone(self) -> bool:
        """True where a later index never addresses an earlier element."""
        return all(a <= b for a, b in pairwise(self.values))

    @cached_property
    def _array(self) -> Indices:
        return np.array(self.values, np.int64)

    def __add__(self, other: Affine | int) -> Table:
        return replace(self, offset=self.offset + other)

    __radd__ = __add__

    def __sub__(self, other: Affine | int) -> Table:
        return self + -other

    def at(self, loops: Mapping[str, Number]) -> Number:
        """Value at a point; `loops` holds integers or broadcastable integer arrays."""
        return cast(Number, self._array[loops[self.loop]] + self.offset.at(loops))

    def hull(self, box: Mapping[str, Range]) -> Range:
        """Smallest range that holds the value at every point of `box`."""
        part = self._array[slice(*box[self.loop])]
        low, high = self.offset.hull(box)
        return int(part.min()) + low, int(part.max()) + high

    def extent(self, sizes: Mapping[str, Number]) -> Number:
        """Largest hull length over all tiles of these sizes (integers or arrays of candidates), before clipping."""
        wanted = np.asarray(sizes[self.loop])
        spans = {int(size): self._span(int(size)) for size in np.unique(wanted)}
        span = np.vectorize(spans.__getitem__, otypes=[np.int64])(wanted)
        total = span + self.offset.extent(sizes)
        return cast(Number, total if isinstance(sizes[self.loop], np.ndarray) else int(total))

    def _span(self, size: int) -> int:
        """Largest difference inside one tile of `size` steps, whatever its first step."""
        windows = np.lib.stride_tricks.sliding_window_view(self._array, min(size, len(self.values)))
        return int((windows.max(axis=-1) - windows.min(axis=-1)).max())

    def __str__(self) -> str:
        text = f"{self.name}[{self.loop}]"
        return text if self.offset == ZERO else f"{text} + {self.offset}".replace("+ -", "- ")
