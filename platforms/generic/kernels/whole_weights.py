"""Constant lines of floats as whole numbers, with what these do not tell."""

from __future__ import annotations

import numpy as np
from tilewright.platform import Array, Constant, DType

LINES = ("fixed_room.h", "whole_f32.h", "whole_products.h", "whole_lines.h")
SOURCES = [*LINES, "whole_windows.h"]
BITS = 30
FEW = 1 << 18
"""Whole numbers below it are off by more than 2^-19 of themselves: such weights are kept as floats too."""
LAST = 0xFFFFFFFF
"""An index that no weight has, behind those of weights that are kept."""


def unable(lines: Array) -> str | None:
    """None for lines that can be whole numbers, or why not."""
    return None if np.isfinite(lines).all() else "weights are infinite or no numbers, they have no whole numbers"


def whole_lines(lines: Array) -> tuple[Constant, ...]:
    """Lines [count, length] as numbers below 2^30, rounded, and the exponent of the largest of each line; weights that
    are not known well enough then, by their place in all of them."""
    floats = np.ascontiguousarray(lines, np.float32)
    tops = np.abs(floats).view(np.uint32).max(1) >> 23
    scales = np.exp2(tops.astype(np.float64) - (127 + BITS - 1))[:, None]
    numbers = np.rint(floats.astype(np.float64) / scales)
    unlike = numbers * scales != floats
    odd = ((np.abs(numbers) < FEW) & unlike) | ((np.abs(floats) < np.finfo(np.float32).tiny) & (floats != 0))
    where = np.flatnonzero(odd)
    return (
        Constant("w", DType.I32, numbers.astype(np.int32).reshape(-1)),
        Constant("tops", DType.U8, tops.astype(np.uint8)),
        Constant("odd_at", DType.U32, np.append(where, LAST).astype(np.uint32)),
        Constant("odd", DType.F32, np.append(floats.reshape(-1)[where], 0).astype(np.float32)),
    )
