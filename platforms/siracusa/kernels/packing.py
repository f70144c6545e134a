"""Weights as N-EUREKA reads them: words of 32 bytes, one bit of every weight of a block at a time.

3x3, dense and depthwise: word (output channel, block of 28 input channels, bit) holds tap * 28 + channel; depthwise has
one output channel. 1x1: word (output channel, block of 32) holds bit b of channel c at c / 4 * 32 + b * 4 + c % 4.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from tilewright.platform import Array

WORD_BYTES = 32
SINGLE_BITS = 8


class Mode(IntEnum):
    """What a job computes, by its number in the last word of a job."""

    THREE = 0
    APART = 1
    ONE = 2

    @property
    def ins(self) -> int:
        """Input channels that are read at once."""
        return 32 if self is Mode.ONE else 28

    @property
    def outs(self) -> int:
        """Output channels of one job."""
        return 28 if self is Mode.APART else 32


def bits_of(weights: Array, mode: Mode) -> int:
    """The fewest bits, from two on, that hold all weights; those of 1x1 always lie in eight."""
    if mode is Mode.ONE:
        return SINGLE_BITS
    largest = max(int(weights.max(initial=0)), -int(weights.min(initial=0)) - 1)
    return max(2, largest.bit_length() + 1)


def pack(weights: Array, mode: Mode) -> Array:
    """Signed weights [output channel, tap, input channel], depthwise [channel, tap, 1], as bytes, flat.

    What is stored is a weight plus half of the range of its bits; the job takes that off again.
    """
    bits = bits_of(weights, mode)
    if mode is Mode.APART:
        weights = weights.transpose(2, 1, 0)
    outs, taps, ins = weights.shape
    blocks = -(-ins // mode.ins)
    stored = np.zeros((outs, taps, blocks * mode.ins), np.int64)
    stored[:, :, :ins] = weights.astype(np.int64) + (1 << bits - 1)
    stored = stored.reshape(outs, taps, blocks, mode.ins)
    planes = stored[..., None] >> np.arange(bits) & 1  # [out, tap, block, channel, bit]
    if mode is Mode.ONE:
        fours = planes.reshape(outs, blocks, mode.ins // 4, 4, bits)
        words = fours.transpose(0, 1, 2, 4, 3).reshape(outs, blocks, 1, WORD_BYTES * 8)
    else:
        words = np.zeros((outs, blocks, bits, WORD_BYTES * 8), np.int64)
        words[..., : taps * mode.ins] = planes.transpose(0, 2, 4, 1, 3).reshape(outs, blocks, bits, taps * mode.ins)
    return np.packbits(words.astype(np.uint8), axis=-1, bitorder="little").reshape(-1)
