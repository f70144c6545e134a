"""How a layer is computed by blocks of pixels: how many at once, read where they lie or gathered, edges and bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from tilewright.platforms.pulp.kernels.block_asm import Geometry
from tilewright.platforms.pulp.kernels.block_window import Window
from tilewright.platforms.pulp.kernels.windows import CORES

WIDTH = 4
BLOCK_PARTS = 16
MOST_EDGES = 2
"""Ways to miss columns beside the usual ones that blocks of their own are printed for."""


@dataclass(frozen=True)
class Plan:
    """How a layer is computed: `pixels` at once, straight from the tile or gathered into one run per pixel first."""

    window: Window
    pixels: int
    gathered: bool
    geometry: Geometry
    tops: int
    bottoms: int
    packed: bool

    @property
    def width(self) -> int:
        """Output channels of a group."""
        return self.geometry.lanes if self.geometry.apart else WIDTH

    @property
    def run(self) -> int:
        """Bytes of a gathered pixel."""
        return self.geometry.depth

    @property
    def scratch_bytes(self) -> int:
        """Bytes that all cores gather into."""
        return CORES * (self.pixels * self.run if self.gathered else self.packed_bytes if self.packed else 0)

    @property
    def packed_bytes(self) -> int:
        """Bytes of one pixel's window, of four channels where they stay apart."""
        return self.window.kernel[0] * self.row_bytes // self.geometry.parts

    def edges(self, pixels: int) -> list[tuple[int, int]]:
        """Missing columns at the left and right that blocks of so many pixels are printed for."""
        left, right = self.window.begins[1], max(0, self.window.ends[1])
        usual = [(0, 0), *([(left, 0)] if left else []), *([(0, right)] if right else [])]
        if self.gathered or self.window.flat:
            return [(0, 0)]
        others = [edge for edge in self._occurring(pixels, self.window.signal) if edge not in usual]
        edges = usual if len(others) > MOST_EDGES else [*usual, *others]
        return [edge for edge in edges if sum(edge) < self.geometry.reach(pixels)]

    @cached_property
    def left_over(self) -> int:
        """Pixels of a row in blocks that no statement is printed for."""
        return sum(
            pixels * count
            for pixels in {self.pixels, 1}
            for edge, count in self._occurring(pixels, False).items()
            if edge not in self.edges(pixels)
        )

    def covers(self, pixels: int) -> bool:
        """True where statements are printed for all blocks of so many pixels, however tiles are cut."""
        known = self.edges(pixels)
        return self.gathered or all(edge in known for edge in self._occurring(pixels, self.window.signal))

    def _occurring(self, pixels: int, anywhere: bool) -> dict[tuple[int, int], int]:
        starts = self.window.starts(pixels, self.pixels, anywhere)
        return dict(Counter(self.window.edge(start, pixels) for start in starts))

    @property
    def row_bytes(self) -> int:
        """Bytes of weights per row of taps and output channel."""
        return self.geometry.taps * self.geometry.depth

    @property
    def rows(self) -> int:
        """Rows of taps."""
        return 1 if self.gathered else self.window.kernel[0]

    @property
    def channel_bytes(self) -> int:
        """Bytes of the stream per output channel."""
        return 4 * (self.geometry.starts + self.geometry.numbers) + self.rows * self.row_bytes
