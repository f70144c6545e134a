"""Products of floats where there is no float unit: sums of whole numbers, or of floats where these are not enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Clamp, Constant, DType
from tilewright.platforms.generic.kernels.dense_f32 import DenseF32
from tilewright.platforms.generic.kernels.float_text import clamp_text

SOURCES = ["fixed_room.h", "whole_f32.h", "whole_products.h"]
LONGEST = 1 << 14
"""Products of a sum: whole numbers of a longer one had fewer bits than floats."""
DENSE = DenseF32()


@dataclass(frozen=True)
class Line:
    """Sums of `length` products: bits of the whole numbers, by what their sizes are shifted when they are added up."""

    length: int
    bits: int
    share: int

    @property
    def margin(self) -> int:
        """See `margin_of`."""
        return margin_of(self.length)


def line_of(length: int) -> Line:
    """The whole numbers of sums of so many products."""
    digits = (length - 1).bit_length()
    return Line(length, min(30, (62 - digits) // 2), digits // 2 + 1)


def margin_of(length: int) -> int:
    """A sum of so many products is taken where it is off by less than 2^-margin of their sizes: as well as floats
    added up one by one may do, and 2^-17 at worst."""
    return max(17, min(19, 24 - (length - 1).bit_length()))


def too_long(length: int) -> str | None:
    """None for sums that whole numbers can make, or why not."""
    return f"sums of {length} products are too long, {LONGEST} are the most" if length > LONGEST else None


def limited(value: str, clamp: Clamp | None) -> str:
    """A result within the limits of the activation behind its layer, compared as integers where it is a rectifier."""
    if clamp is None or clamp.low != 0.0 or not clamp.high > 0.0:
        return clamp_text(value, clamp)
    return f"tilewright_whole_rectified({value}, 0x{int(np.float32(clamp.high).view(np.uint32)):08X}u)"


def tops_of(lines: Array) -> Constant:
    """The exponent of the largest of every line, as it stands in floats."""
    bits = np.abs(np.ascontiguousarray(lines, np.float32)).view(np.uint32).max(1)
    return Constant("tops", DType.U8, (bits >> 23).astype(np.uint8))
