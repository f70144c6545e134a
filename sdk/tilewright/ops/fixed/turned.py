"""RotaryEmbedding in fixed point: four upper halves of products, a difference and a sum.

y = (high(a << 1, c) - high(b << 1, s)) * 2^e,  (high(a << 1, s) + high(b << 1, c)) * 2^e
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array
from tilewright.ops.attention_rule import rotated
from tilewright.ops.fixed.tensors import fraction_bits
from tilewright.ops.fixed.whole import high, moved
from tilewright.ops.operator import Call
from tilewright.ops.requantize import Integers


def turn_exponents(call: Call) -> tuple[int, int]:
    """By how many bits sums of products are moved, and elements that do not turn."""
    x, angle, result = (fraction_bits(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    return result - (x + 1 + angle - 32), result - x


def evaluate_turned(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Pairs of elements turned by angles; positions that are looked up take the nearest row."""
    x, cosines, sines = (_whole(arrays, index) for index in range(3))
    heads, depth, turned = rotated(call)
    packed, shape = x.ndim == 3, x.shape
    if packed:
        x = x.reshape(shape[0], shape[1], heads, depth).transpose(0, 2, 1, 3)
    if call.optional(3) is not None:
        at = np.clip(_whole(arrays, 3), 0, len(cosines) - 1)
        cosines, sines = cosines[at], sines[at]
    cosines, sines = (part[:, None, :, : turned // 2] for part in (cosines, sines))
    half = turned // 2
    pairs = (slice(0, turned, 2), slice(1, turned, 2)) if call.integer("interleaved", 0) else (
        slice(0, half), slice(half, turned)
    )  # fmt: skip
    exponent, straight = turn_exponents(call)
    a, b = (x[..., part] << 1 for part in pairs)
    result = moved(x, straight)
    result[..., pairs[0]] = moved(high(a, cosines) - high(b, sines), exponent)
    result[..., pairs[1]] = moved(high(a, sines) + high(b, cosines), exponent)
    result = result.transpose(0, 2, 1, 3).reshape(shape) if packed else result
    return (result.astype(np.int32),)


def _whole(arrays: Sequence[Array | None], index: int) -> Integers:
    array = arrays[index]
    assert array is not None, f"operand {index} is missing"
    return array.astype(np.int64)
