"""Pools of codes on cores with the vector extension: means, and the largest codes of dilated windows and batches."""

from __future__ import annotations

from tilewright.numerics import ROUNDING
from tilewright.platform import Call, Needs
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import pool_i8

MOST_TAPS = 256
"""Codes of eight bits whose sum fits in sixteen bits."""


@PLATFORM.kernel(
    "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", types=pool_i8.TYPES, template=pool_i8.TEMPLATE,
    layout="channels_last", sources=[pool_i8.BOUNDS, "mve.h", "mve_pool.h", *ROUNDING], preference=38,
    requires=Needs(has=("mve",)),
)  # fmt: skip
class PoolMve(pool_i8.PoolMethods):
    """Eight channels at a time."""

    _lanes, _vectors = 8, "mve"

    def accepts(self, call: Call) -> str | None:
        """Windows whose sums fit in sixteen bits where codes have eight, two channels at least."""
        h, w = pool_i8.sides_of(call) if len(call.shape(0)) in (3, 4) else (None, None)
        eight = call.tensor(0).dtype.bits == 8
        if eight and h is not None and w is not None and h.kernel * w.kernel > MOST_TAPS:
            return f"a window of more than {MOST_TAPS} taps, whose sum may need more than sixteen bits"
        if call.shape(0)[1] < 2:
            return "one channel, vectors would stay empty"
        return super().accepts(call)
