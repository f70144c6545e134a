"""The fused activation: a node's real-valued limits applied to what it computed."""

from __future__ import annotations

from math import isnan

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


def the_number(call: Call, operand: int) -> float | None:
    """The one number that all elements of a constant operand are; None where there is none."""
    value = call.constants.get(operand)
    if value is None or value.size == 0:
        return None
    first = value.reshape(-1)[0]
    return None if isnan(float(first)) or bool((value != first).any()) else float(first)
