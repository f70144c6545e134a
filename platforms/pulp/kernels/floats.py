"""Floats as templates print them where a load from L2 would cost more than the bits as an integer."""

from __future__ import annotations

import numpy as np


def bits_of(value: float | np.float32) -> str:
    """A float32 as the C integer of its bits, for `tilewright_float`."""
    return f"0x{int(np.float32(value).view(np.uint32)):08X}u"
