"""The fused activation: a node's real-valued limits applied to what it computed."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.operator import Call


def clamped(call: Call, values: Array) -> Array:
    """Real values limited by the node's clamp, in their own type; unchanged where the node has none. NaN stays NaN."""
    clamp = call.node.clamp
    if clamp is None:
        return values
    if values.dtype.kind == "f":
        low, high = np.asarray(clamp.low, values.dtype), np.asarray(clamp.high, values.dtype)
    else:
        limits = np.iinfo(values.dtype)
        low = np.asarray(max(limits.min, np.ceil(clamp.low)), values.dtype)
        high = np.asarray(min(limits.max, np.floor(clamp.high)), values.dtype)
    return np.asarray(np.minimum(np.maximum(values, low), high))
