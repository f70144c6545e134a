"""Weights of a depthwise layer as bytes, and how a core with the DSP extension makes words of two taps of them.

A channel is unpacked once for all its results, so bytes cost little time where it has several. Of two forms the one
with fewer words is taken: `pairs` of weight words, each two `sxtb16` of one word, and `bytes`, every tap once, whose
words of two neighbours are put together of the halves that `sxtb16` gives. Words that serve a single result lie as
they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array

Pair = tuple[int, int]
"""Two taps of a kernel line that one weight word holds, low half first; -1 for none."""


@dataclass(frozen=True)
class PackedTaps:
    """`taps` are the places of a channel's weights in the order of the table, -1 for a zero, each in `bits` bits and
    times `factor`; `unpacked` are C variables and what they are, in order; `w0` and on are the weight words.
    """

    taps: tuple[int, ...]
    unpacked: tuple[tuple[str, str], ...]
    bits: int = 8
    factor: int = 1

    @property
    def words(self) -> int:
        """Words of one channel."""
        return len(self.taps) * self.bits // 32

    def table(self, weights: Array) -> Array:
        """[channels, words] of [channels, taps] in int8."""
        places = np.asarray(self.taps)
        values = np.where(places < 0, 0, weights[:, places].astype(np.int64) * self.factor) & ((1 << self.bits) - 1)
        parts = values.reshape(len(weights), self.words, -1) << np.arange(0, 32, self.bits)
        return np.asarray(parts.sum(axis=2), np.uint32)


def packed_taps(pairs: Sequence[Pair], lines: int, taps: int, *, doubled: bool, once: bool) -> PackedTaps:
    """The form of `lines` kernel lines of so many taps, whose weight words are `pairs`; `doubled` words hold twice the
    weights, and words that are used `once` lie as they are.
    """
    words = [
        (low + taps * n if low >= 0 else -1, high + taps * n if high >= 0 else -1)
        for n in range(lines)
        for low, high in pairs
    ]
    if once:
        places = tuple(tap for word in words for tap in word)
        return PackedTaps(places, tuple((f"w{n}", f"t[{n}]") for n in range(len(words))), 16, 2 if doubled else 1)
    if -(-len(words) // 2) <= -(-lines * taps // 4):
        return _pairs(words, doubled)
    return _bytes(words, lines * taps, doubled)


def _pairs(words: Sequence[Pair], doubled: bool) -> PackedTaps:
    places, unpacked = list[int](), list[tuple[str, str]]()
    for n in range(0, len(words), 2):
        first, second = words[n], words[n + 1] if n + 1 < len(words) else (-1, -1)
        places += [first[0], second[0], first[1], second[1]]
        unpacked.append((f"p{n // 2}", f"t[{n // 2}]"))
        halves = _halves(n // 2, doubled)
        unpacked += [(f"w{n + side}", halves[side]) for side in (0, 1) if n + side < len(words)]
    return PackedTaps(tuple(places), tuple(unpacked))


def _bytes(words: Sequence[Pair], taps: int, doubled: bool) -> PackedTaps:
    count = -(-taps // 4)
    places = [tap if tap < taps else -1 for tap in range(4 * count)]
    used = {tap for word in words for tap in word}
    unpacked = list[tuple[str, str]]()
    for n in range(count):
        unpacked.append((f"p{n}", f"t[{n}]"))
        unpacked += [
            (f"{name}{n}", half)
            for side, (name, half) in enumerate(zip("eo", _halves(n, doubled), strict=True))
            if used & {4 * n + side, 4 * n + side + 2}
        ]
    unpacked += [(f"w{n}", _word(low, high)) for n, (low, high) in enumerate(words)]
    return PackedTaps(tuple(places), tuple(unpacked))


def _halves(word: int, doubled: bool) -> tuple[str, str]:
    """Bytes 0 and 2, and bytes 1 and 3, of a word as halves."""
    halves = (f"tilewright_even(p{word})", f"tilewright_odd(p{word})")
    return (f"tilewright_doubled({halves[0]})", f"tilewright_doubled({halves[1]})") if doubled else halves


def _word(low: int, high: int) -> str:
    """A word of two neighbouring taps of the halves of their words of bytes; even bytes lie in `e`, odd ones in `o`."""
    word, place = divmod(low, 4)
    even, odd = f"e{word}", f"o{word}"
    if high < 0:
        half = odd if place % 2 else even
        return f"{half} >> 16" if place >= 2 else f"{half} & 0xffffu"
    if place == 0:
        return f"tilewright_bottoms({even}, {odd})"
    if place == 1:
        return f"tilewright_outer({odd}, {even})"
    if place == 2:
        return f"tilewright_tops({even}, {odd})"
    return f"tilewright_inner({odd}, e{word + 1})"
