"""C of slopes: four results' gradients times some channels of the operand, pixel by pixel, summed in registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.platforms.pulp.kernels.float_products import Product, Value, products_text
from tilewright.platforms.pulp.kernels.plane_blocks import LANES


@dataclass(frozen=True)
class SlopeBlock:
    """Slopes of four results and `width` channels, whose neighbouring pixels are `step` elements apart."""

    width: int
    step: int

    def lines(self, pixels: int) -> tuple[str, ...]:
        """So many neighbouring pixels, then the pointers move."""
        moves = [f"q{lane} += {pixels};" for lane in range(LANES)]
        moves += [f"p{at} += {pixels * self.step};" for at in range(self.width)]
        return (*products_text(tuple(self._products(pixels))), " ".join(moves))

    def _products(self, pixels: int) -> Iterator[Product]:
        for pixel in range(pixels):
            for lane in range(LANES):
                gradient = Value(f"a{lane % 2}", f"q{lane}[{pixel}]")
                for at in range(self.width):
                    operand = Value(f"b{at}", f"p{at}[{pixel * self.step}]")
                    yield Product(f"s{lane}{at}", gradient, operand, (pixel, lane))


def slope_widths(channels: int, step: int) -> tuple[SlopeBlock, ...]:
    """The blocks of so many channels: fours, and what is left."""
    widths = ([LANES] if channels >= LANES else []) + ([channels % LANES] if channels % LANES else [])
    return tuple(SlopeBlock(width, step) for width in widths)
