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
    if not math.isinf(clamp.high):
        high = literal(DType.F32, clamp.high)
        text = f"({text} > {high} ? {high} : {text})"
    if not math.isinf(clamp.low):
        low = literal(DType.F32, clamp.low)
        text = f"({value} < {low} ? {low} : {text})"
    return text


def rectified_text(value: str, clamp: Clamp | None) -> str:
    """`clamp_text`, a plain Relu by the macro of `registers_f32.h`."""
    if clamp is not None and clamp.low == 0.0 and math.isinf(clamp.high):
        return f"TILEWRIGHT_RECTIFIED({value})"
    return clamp_text(value, clamp)


def limit_texts(clamp: Clamp | None) -> tuple[str, str]:
    """Both ends of the fused activation's range, the infinities of math.h where there is none."""
    low, high = (clamp.low, clamp.high) if clamp is not None else (-math.inf, math.inf)
    return (
        "-HUGE_VALF" if math.isinf(low) else literal(DType.F32, low),
        "HUGE_VALF" if math.isinf(high) else literal(DType.F32, high),
    )
