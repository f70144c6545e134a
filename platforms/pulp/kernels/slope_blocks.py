"""C of slopes: gradients of four results times operands of some channels and taps, pixel by pixel, summed in registers.

Where the window has one column, four channels are summed at once along rows of any length. Else every column of the
window is, in blocks of a few pixels whose edges are in the text, row by row: neighbouring columns share what they load.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tilewright.platforms.pulp.kernels.float_products import Product, Value, products_text
from tilewright.platforms.pulp.kernels.plane_blocks import LANES, WIDEST, Blocks, Kind, Row, Tap, Weights, blocks_of

MOST_SUMS = 6
"""Sums of each result that fit in registers beside what they are made of."""


@dataclass(frozen=True)
class LineSlopes:
    """Slopes of `lanes` results and `channels` channels at one tap, their neighbouring pixels `step` elements apart."""

    channels: int
    step: int
    lanes: int

    @property
    def sums(self) -> tuple[tuple[int, int], ...]:
        """The channel and the tap of every sum of a result."""
        return tuple((channel, 0) for channel in range(self.channels))

    def lines(self, pixels: int) -> tuple[str, ...]:
        """So many neighbouring pixels, then the pointers move."""
        moves = [(f"q{lane}", f"{pixels}") for lane in range(self.lanes)]
        moves += [(f"p{at}", f"{pixels * self.step}") for at in range(self.channels)]
        return products_text(tuple(self._products(pixels)), moves)

    def _products(self, pixels: int) -> Iterator[Product]:
        for pixel in range(pixels):
            for lane in range(self.lanes):
                gradient = Value(f"a{lane % 2}", f"q{lane}", f"{pixel}")
                for at in range(self.channels):
                    operand = Value(f"b{at}", f"p{at}", f"{pixel * self.step}")
                    yield Product(f"s{lane}_{at}", gradient, operand, (pixel, lane))


@dataclass(frozen=True)
class WindowSlopes:
    """Slopes of `lanes` results and `channels` channels at neighbouring taps, in blocks of a row of the gradient."""

    channels: int
    first: int
    blocks: Blocks
    lanes: int

    @property
    def taps(self) -> tuple[Tap, ...]:
        """Columns of the window."""
        return self.blocks.row.taps

    @property
    def sums(self) -> tuple[tuple[int, int], ...]:
        """The channel and the tap of every sum of a result, taps counted from the first of these."""
        return tuple((channel, tap) for channel in range(self.channels) for tap in range(len(self.taps)))

    def inputs(self, kind: Kind) -> tuple[str, ...]:
        """Registers of what a block reads of the operand."""
        return tuple(f"b{channel}_{at}" for channel in range(self.channels) for at in range(len(kind.inputs)))

    def lines(self, kind: Kind) -> tuple[str, ...]:
        """A row of a block, then the pointers move to the next one."""
        moves = [(f"q{lane}", "of->y_row") for lane in range(self.lanes)]
        moves += [(f"p{channel}", "of->x_row") for channel in range(self.channels)]
        return products_text(tuple(self._products(kind)), moves)

    def _products(self, kind: Kind) -> Iterator[Product]:
        turn = 0
        for pixel, met in enumerate(kind.met):
            for lane in range(self.lanes if met else 0):
                gradient = Value(f"a{turn % 2}", f"q{lane}", f"{pixel}")
                turn += 1
                for channel in range(self.channels):
                    for tap in met:
                        read = pixel * kind.step + self.taps[tap].start
                        name = f"b{channel}_{kind.inputs.index(read)}"
                        operand = Value(name, f"p{channel}", f"{read - kind.origin}")
                        total = f"s{lane}_{channel * len(self.taps) + tap}"
                        yield Product(total, gradient, operand, (pixel, lane))


def slopes_of(channels: int, results: int, row: Row) -> tuple[LineSlopes, ...] | tuple[WindowSlopes, ...]:
    """The slopes of a product whose gradient has such rows: by tap, four channels and what is left of them; or by
    columns of the window, as many at once as there is room for."""
    lanes = min(results, LANES)
    if len(row.taps) == 1:
        widths = ([LANES] if channels >= LANES else []) + ([channels % LANES] if channels % LANES else [])
        return tuple(LineSlopes(width, row.step, lanes) for width in widths)
    together, widest = (2, {2: 4, 3: 2}[len(row.taps)]) if len(row.taps) < 4 and channels > 1 else (1, WIDEST)
    each = -(-len(row.taps) // -(-len(row.taps) // MOST_SUMS))
    parts = [(first, row.taps[first : first + each]) for first in range(0, len(row.taps), each)]
    rows = [(first, replace(row, taps=taps, widest=widest)) for first, taps in parts]
    return tuple(
        WindowSlopes(together, first, blocks_of(one, Weights(0, 1), 1, 1, (lanes,)), lanes) for first, one in rows
    )
