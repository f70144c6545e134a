"""Constants as C text at the speed of NumPy: the characters of many numbers at once, the same ones that printf gives.

A number is a row of words of four or eight characters from tables; characters that are 0 are dropped at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tilewright.model import Array

Words = NDArray[np.unsignedinteger]

_POWERS = np.array([float(f"1e{power}") for power in range(-60, 61)])
_NEAR_A_TIE = 1e-5
"""Nine digits scaled in float64 are off by less than 1e-6 of the last; nearer to a half than this, printf decides."""


def real_text(values: Array, suffix: str, per_line: int) -> str:
    """Finite float32 numbers as `%.8e` and a suffix of at most four letters, `per_line` to a line."""
    numbers = values.astype(np.float64)
    digits, exponent = _digits(np.abs(numbers))
    high, low = np.divmod(digits, np.uint32(10_000))
    first, middle = np.divmod(high, np.uint32(10_000))
    firsts, fours, exponents = _real_words()
    rows = np.zeros((len(values), 7), np.uint32)
    rows[:, 0] = firsts[first + np.signbit(numbers) * np.uint32(10)]
    rows[:, 1] = fours[middle]
    rows[:, 2] = fours[low]
    rows[:, 3] = exponents[exponent + 99]
    rows[:, 4] = _words((suffix,), 4)[0]
    _separate(rows[:, 5:], _words((", ", ",\n  ", "  "), 4), per_line)
    return _shown(rows)


def small_integer_text(values: Array, per_line: int) -> str:
    """Integers of at most sixteen bits, or booleans, `per_line` to a line."""
    bits = 8 * values.dtype.itemsize
    lowest = -(1 << (bits - 1)) if values.dtype.kind == "i" else 0
    rows = np.zeros((len(values), 2), np.uint64)
    rows[:, 0] = _integers(lowest, bits)[values.astype(np.int64) - lowest]
    _separate(rows[:, 1:], _words((", ", ",\n    "), 8), per_line)
    return _shown(rows)


def bits_text(words: Array, per_line: int) -> str:
    """Words of sixteen bits as `0x3c00`, `per_line` to a line."""
    rows = np.zeros((len(words), 2), np.uint64)
    rows[:, 0] = _hexadecimal()[words]
    _separate(rows[:, 1:], _words((", ", ",\n    "), 8), per_line)
    return _shown(rows)


def _digits(size: NDArray[np.float64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Nine digits as a whole number, and the power of ten of the first."""
    doublings = np.frexp(size)[1].astype(np.int64)  # size < 2 ** doublings
    exponent = np.floor((doublings - 1) * 0.30103).astype(np.int64)  # of 2 ** (doublings - 1); at most one too low
    exponent += size >= _POWERS[exponent + 61]
    exponent[size == 0] = 0
    factor = _POWERS[60 + np.abs(8 - exponent)]
    scaled = np.where(exponent > 8, size / factor, size * factor)
    rounded = np.rint(scaled)
    doubtful = np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_A_TIE)
    grown = rounded >= 1e9
    rounded[grown] = 1e8
    exponent += grown
    digits = rounded.astype(np.uint32)
    for place in doubtful.tolist():
        mantissa, _, power = f"{size[place]:.8e}".partition("e")
        digits[place], exponent[place] = int(mantissa.replace(".", "")), int(power)
    return digits, exponent


def _separate(columns: Words, between: Words, per_line: int) -> None:
    """Fill the columns after the numbers: `between` holds what parts two, then what ends a line, over the columns."""
    columns[:, 0] = between[0]
    columns[per_line - 1 :: per_line] = between[1:]
    columns[-1] = 0


def _shown(rows: Words) -> str:
    return rows.tobytes().translate(None, b"\0").decode("ascii")


def _words(texts: Iterable[str], length: int) -> Words:
    """Texts of at most `length` characters as words of memory."""
    words: Words = np.array([text.encode("ascii") for text in texts], f"S{length}").view(f"u{length}")
    return words


@cache
def _real_words() -> tuple[Words, Words, Words]:
    """The first digit with its point, without and with a sign; four digits; the power from -99 on."""
    firsts = [f"{sign}{digit}." for sign in ("", "-") for digit in range(10)]
    fours, exponents = (f"{number:04}" for number in range(10_000)), (f"e{power:+03}" for power in range(-99, 100))
    return _words(firsts, 4), _words(fours, 4), _words(exponents, 4)


@cache
def _hexadecimal() -> Words:
    """Every word of sixteen bits."""
    return _words((f"0x{word:04x}" for word in range(1 << 16)), 8)


@cache
def _integers(lowest: int, bits: int) -> Words:
    """The words of every integer of a type, from the lowest."""
    return _words(map(str, range(lowest, lowest + (1 << bits))), 8)
