"""Pools of codes on cores with vectors: sixteen channels and more at a time."""

from __future__ import annotations

from tilewright.numerics import ROUNDING
from tilewright.platform import Call, Needs
from tilewright.platforms.generic.kernels import pool_i8
from tilewright.platforms.riscv.platform import PLATFORM

MOST_TAPS = 256
"""Codes of eight bits whose sum fits in sixteen bits."""


@PLATFORM.kernel(
    "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", types=pool_i8.TYPES,
    template=pool_i8.TEMPLATE, layout="channels_last",
    sources=[pool_i8.BOUNDS, "rvv_largest.h", "rvv_sums.h", *ROUNDING], preference=34, requires=Needs(has=("rvv",)),
)  # fmt: skip
class PoolVectorI8(pool_i8.PoolMethods):
    """Pools of codes in vectors of channels."""

    _lanes, _vectors = 16, "rvv"

    def accepts(self, call: Call) -> str | None:
        """Windows whose sums fit in sixteen bits, four channels at least."""
        h, w = pool_i8.sides_of(call) if len(call.shape(0)) in (3, 4) else (None, None)
        eight = call.tensor(0).dtype.bits == 8
        if eight and h is not None and w is not None and h.kernel * w.kernel > MOST_TAPS:
            return f"a window of more than {MOST_TAPS} taps, whose sum may need more than sixteen bits"
        if call.shape(0)[1] < 4:
            return f"{call.shape(0)[1]} channels, vectors would stay empty"
        return super().accepts(call)
