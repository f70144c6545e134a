"""Scales of the page: round ticks on an axis of bytes, cycles or steps, and figures with their unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis; `at` is the part of the axis, from 0 to 1."""

    at: float
    label: str


def byte_ticks(top: int, most: int = 6) -> tuple[Tick, ...]:
    """Ticks from 0 to at most `top` bytes, at powers of two."""
    step = 1
    while top / step > most:
        step *= 2
    return tuple(Tick(value / max(top, 1), round_bytes(value)) for value in range(0, top + 1, step))


def count_ticks(top: int, most: int = 8) -> tuple[Tick, ...]:
    """Ticks from 0 to at most `top`, at 1, 2 or 5 times a power of ten."""
    step = next(s for s in _steps() if top / s <= most)
    return tuple(Tick(value / max(top, 1), round_count(value)) for value in range(0, top + 1, step))


def _steps() -> tuple[int, ...]:
    return tuple(digit * 10**power for power in range(20) for digit in (1, 2, 5))


def round_bytes(size: int) -> str:
    """Bytes in the largest unit in which they are a short number: `512 B`, `1.5 KiB`, `4 MiB`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if abs(size) >= unit:
            return f"{_short(size / unit)} {name}"
    return f"{size:,} B"


def round_count(count: float) -> str:
    """A count with three digits and k, M or G."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(count) >= unit:
            return f"{_short(count / unit)} {name}"
    return _short(count)


def percent(part: float, whole: float) -> str:
    """A share of a whole, with a digit behind the point below ten per cent."""
    share = 100 * part / whole if whole else 0.0
    return f"{share:.0f} %" if share >= 9.95 or share == 0 else f"{share:.1f} %" if share >= 0.05 else "< 0.1 %"


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
