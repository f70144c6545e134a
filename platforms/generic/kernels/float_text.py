"""C that the float kernels share: the function attribute that keeps a loop nest in shape, and clamps."""

from __future__ import annotations

import math

from tilewright.platform import Clamp, DType
from tilewright.platforms.generic.kernels.nest_expressions import literal

ATTRIBUTE = "TILEWRIGHT_VECTORISED"
"""Macro of `vectorised.h`: gcc keeps accumulators in vector registers under any -O that the user's build gives."""


def clamp_text(value: str, clamp: Clamp | None) -> str:
    """The value limited to the fused activation's range."""
    if clamp is None:
        return value
    text = value
    if clamp.high < math.inf:
        high = literal(DType.F32, clamp.high)
        text = f"({text} > {high} ? {high} : {text})"
    if clamp.low > -math.inf:
        low = literal(DType.F32, clamp.low)
        text = f"({value} < {low} ? {low} : {text})"
    return text


def rectified_text(value: str, clamp: Clamp | None) -> str:
    """`clamp_text`, a plain Relu by the macro of `registers_f32.h`."""
    if clamp == Clamp(0.0, math.inf):
        return f"TILEWRIGHT_RECTIFIED({value})"
    return clamp_text(value, clamp)


def limit_texts(clamp: Clamp | None) -> tuple[str, str]:
    """Both ends of the fused activation's range, the infinities of math.h where there is none."""
    low, high = (_end(end) for end in ((clamp.low, clamp.high) if clamp is not None else (-math.inf, math.inf)))
    return low, high


def _end(value: float) -> str:
    return literal(DType.F32, value).replace("INFINITY", "HUGE_VALF")
