"""How far a result may start inside its dying operand: proved by walking the steps of a kernel's outer loop.

A kernel works in steps. In step t it reads operand elements from some address on and writes result elements up to some
address. The result may lie over the operand as long as nothing is written that is still to be read: with offsets in
one memory, `result + write_end[t] <= operand + read_from[t]` for every step, where `read_from[t]` is the lowest address
that step t (or, where a step reads everything before it writes, step t + 1) or a later one reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tilewright.platforms.generic.kernels.blocks import Axis

Ints = npt.NDArray[np.int64]


def gap_bytes(write_end: Ints, read_first: Ints, *, reads_before_writing: bool) -> int:
    """Bytes that the operand must start behind the result; negative where the result may start inside the operand."""
    later = np.minimum.accumulate(read_first[::-1])[::-1]
    if reads_before_writing:
        later = later[1:]
    ends = np.maximum.accumulate(write_end)[: later.size]
    return int((ends - later).max()) if later.size else -int(read_first.max(initial=0))


def row_steps(h: Axis, w: Axis, out_channels: int, x_bytes: int, y_bytes: int) -> tuple[Ints, Ints]:
    """Steps of one output row each, channels innermost in both tensors."""
    rows = np.arange(h.out, dtype=np.int64)
    write_end = (rows + 1) * w.out * out_channels * y_bytes
    read_first = np.maximum(0, rows * h.stride - h.pad) * h.x_stride * x_bytes
    return write_end, read_first


def patch_steps(h: Axis, w: Axis, pixels: int, out_channels: int, x_bytes: int, y_bytes: int) -> tuple[Ints, Ints]:
    """Steps of `pixels` neighbouring results each, over the rows as one run; the last step overlaps the one before."""
    results = h.out * w.out
    at = np.minimum(np.arange(0, results, pixels, dtype=np.int64), results - pixels)
    write_end = (at + pixels) * out_channels * y_bytes
    places = at[:, None] + np.arange(pixels, dtype=np.int64)[None, :]
    top = np.maximum(0, places // w.out * h.stride - h.pad)
    left = np.maximum(0, places % w.out * w.stride - w.pad)
    read_first = ((top * h.x_stride + left * w.x_stride) * x_bytes).min(axis=1)
    return write_end, read_first
