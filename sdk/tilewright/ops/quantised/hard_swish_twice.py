"""HARD_SWISH of 8-bit codes in 16-bit fixed point, as TensorFlow Lite Micro's reference kernel computes it.

Source: `tensorflow/lite/kernels/internal/reference/hard_swish.h` and `hard_swish_common.cc` of TensorFlow Lite Micro.
"""

from __future__ import annotations

import numpy as np

from tilewright.ops.quantised.twice import Twice, rounded_over
from tilewright.ops.requantize import Integers

FRACTION_BITS = 7
"""An operand is a code of 16 bits with so many bits behind the point."""
LIMIT = (1 << 15) - 1


def hard_swish(centred: Integers, source: float, target: float) -> Integers:
    """x * clip(x + 3, 0, 6) / 6 of codes less their zero point, as codes less the result's; scales are float32.

    The second factor is at most 2^15, so a product never saturates but where its last bits say so.
    """
    to_result, to_share = _multipliers(source, target)
    fine = centred << FRACTION_BITS
    share, exponent = fine, to_share.shift
    if exponent > 0:
        share = _limited(share << (exponent - 1))
    share = _high(share, _short(to_share))
    share = _limited(share << 1) if exponent > 0 else np.asarray(rounded_over(share, -exponent))
    product = (share + LIMIT + 1 >> 1) * _high(fine, _short(to_result))
    codes = np.sign(product) * (np.abs(product) >> 15)
    return np.asarray(rounded_over(codes, -to_result.shift), np.int64)


def is_known(source: float, target: float) -> bool:
    """False where a result has steps so fine that the kernel would shift to the left."""
    return _multipliers(source, target)[0].shift <= 0


def _multipliers(source: float, target: float) -> tuple[Twice, Twice]:
    """To the result's scale, and to the share of 3 that the second factor is; quotients are float32."""
    fine = np.float32(1 / (1 << FRACTION_BITS)) * np.float32(source)
    share = np.float32(3) / np.float32(1 << 15)
    return Twice.of(float(fine / np.float32(target))), Twice.of(float(fine / share))


def _short(multiplier: Twice) -> int:
    """The multiplier in 16 bits."""
    return min((multiplier.multiplier + LIMIT + 1) >> 16, LIMIT)


def _high(a: Integers, b: int) -> Integers:
    """SaturatingRoundingDoublingHighMul of 16 bits; a multiplier is positive, so that nothing saturates."""
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return np.asarray(np.sign(nudged) * (np.abs(nudged) >> 15), np.int64)


def _limited(values: Integers) -> Integers:
    return np.asarray(np.clip(values, -LIMIT - 1, LIMIT), np.int64)
