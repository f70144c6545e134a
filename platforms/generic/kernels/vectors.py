"""Sizes of register blocks by the vectors that the compiler finds: `vectorised.h` picks one of them.

A block holds `pixels` x `channels` accumulators in registers. Each step of the sum takes the weights of the channels
once for all pixels, so the best block is the one with the fewest instructions over the whole run of pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

CHAINS = 8
"""Independent sums that hide the latency of a fused multiply-add at two per cycle."""


@dataclass(frozen=True)
class Vectors:
    """Float lanes of one register, and how many registers there are."""

    lanes: int
    registers: int


KINDS = (Vectors(16, 32), Vectors(8, 16), Vectors(4, 32), Vectors(4, 16))
"""AVX-512, AVX, Advanced SIMD of AArch64, SSE: in the order of the macro's arguments."""
SCALAR = 4
"""Pixels where no vectors are known."""
UNROLLED, UNROLLED_VECTORS = 16, 12
SUMS = 24
"""The longest loops, and the most sums in one, that gcc unrolls completely; what it leaves a loop stays in memory."""


def block_pixels(channels: int, run: int, vectors: Vectors, broadcasts: bool) -> int:
    """Pixels at once of a run of `run`, a block of `channels` each.

    `broadcasts` says that a pixel is one scalar for all channels, as in a convolution, and not a vector of its own,
    as in a depthwise one. The last block of a run is moved back, so a run that no block divides computes some twice.
    """
    wide = -(-channels // vectors.lanes)

    def work(pixels: int) -> float:
        sums = pixels * wide
        step = (pixels if broadcasts else 0) + wide + sums + 2
        return -(-run // pixels) * step * math.sqrt(max(1.0, CHAINS / sums))

    free = min(SUMS + wide, vectors.registers - 1)
    pixels = range(1, min(run, UNROLLED if broadcasts else UNROLLED_VECTORS) + 1)
    fitting = [n for n in pixels if n * wide + (min(n, wide) if broadcasts else wide) <= free]
    return min(fitting, key=lambda n: (work(n), n), default=1)


def pixel_counts(channels: int, run: int, broadcasts: bool = True) -> tuple[int, ...]:
    """Pixels at once by kind of vector, and where no vectors are known."""
    run = max(1, run)
    return (*(block_pixels(channels, run, vectors, broadcasts) for vectors in KINDS), min(SCALAR, run))


def pixels_text(channels: int, run: int, broadcasts: bool = True) -> str:
    """The constant as C: a number, or a choice that the preprocessor takes."""
    counts = pixel_counts(channels, run, broadcasts)
    return str(counts[0]) if len(set(counts)) == 1 else f"TILEWRIGHT_BY_VECTOR({', '.join(map(str, counts))})"
