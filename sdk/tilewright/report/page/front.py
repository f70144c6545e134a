"""A front of quantised networks: how exact each is against what it needs, one plot per figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tilewright.report.page.scale import round_bytes, round_count
from tilewright.report.text import number, printable

WIDE, TALL = 400, 240
LEFT, RIGHT, TOP, BOTTOM = 48, 20, 14, 36
"""Room around a plot, in pixels."""
MARGIN = 0.08
"""Of a plot's span what is left free at either end."""
TICKS = 4
FAR = 2
"""So many times the largest need a budget is too far off to be drawn."""


@dataclass(frozen=True)
class FrontPoint:
    """A choice of types: what it needs by the name of the figure, the expected signal to noise in dB, layers of 4 bits
    and tensors of 16.
    """

    needs: Mapping[str, int]
    signal_to_noise_db: float
    narrow: int
    wide: int
    taken: bool = False


@dataclass(frozen=True)
class QuantisedFront:
    """Choices for a network on a target, its budget, and what the choice that was taken needs as it was compiled.

    `counted` are the figures that are no bytes; `accuracy` says of networks by name what was measured on samples.
    """

    model: str
    target: str
    points: Sequence[FrontPoint]
    budget: Mapping[str, int]
    measured: Mapping[str, int]
    counted: frozenset[str]
    accuracy: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Dot:
    """A point of a plot, in pixels."""

    x: float
    y: float
    title: str
    taken: bool


@dataclass(frozen=True)
class FrontPlot:
    """Signal to noise over one figure: dots, ticks as (place in pixels, label), and where the budget ends. Dots
    that need more from one to the next are `joined`.
    """

    name: str
    dots: tuple[Dot, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    limit: float | None
    joined: bool
    note: str


@dataclass(frozen=True)
class FrontPage:
    """What the page of a front shows; `rows` are the choices, from the smallest on."""

    title: str
    note: str
    plots: tuple[FrontPlot, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[bool, tuple[str, ...]], ...]
    accuracy: tuple[tuple[str, ...], ...]


def front_page(front: QuantisedFront) -> FrontPage:
    """The page of a front."""
    names = tuple(front.measured)
    return FrontPage(
        title=printable(front.model),
        note=f"choices of 4, 8 and 16 bits on {printable(front.target)}, by what each is expected to need",
        plots=tuple(_plot(front, name) for name in names),
        heads=(*names, "4-bit layers", "16-bit tensors", "signal to noise, dB"),
        rows=tuple((point.taken, _cells(point, names)) for point in front.points),
        accuracy=tuple(tuple(map(printable, row)) for row in front.accuracy),
    )


def _cells(point: FrontPoint, names: Sequence[str]) -> tuple[str, ...]:
    sizes = (number(point.needs[name]) for name in names)
    return (*sizes, str(point.narrow), str(point.wide), f"{point.signal_to_noise_db:.1f}")


def _plot(front: QuantisedFront, name: str) -> FrontPlot:
    limit, rounded = front.budget.get(name), round_count if name in front.counted else round_bytes
    needs = [point.needs[name] for point in front.points]
    noises = [point.signal_to_noise_db for point in front.points]
    near = limit is not None and limit < FAR * max(needs)
    shown = [*needs, *([limit] if limit is not None and near else [])]
    x = _scale(shown, LEFT, WIDE - RIGHT)
    y = _scale(noises, TOP + TALL, TOP)
    dots = tuple(
        Dot(x(need), y(noise), f"{number(need)}, {noise:.1f} dB" + (", taken" if point.taken else ""), point.taken)
        for need, noise, point in zip(needs, noises, front.points, strict=True)
    )
    told = f"compiled: {number(front.measured[name])}" + ("" if limit is None else f" of {number(limit)}")
    return FrontPlot(
        name=printable(name),
        dots=dots,
        across=tuple((x(value), rounded(round(value))) for value in _ticks(shown)),
        up=tuple((y(value), f"{value:.1f}") for value in _ticks(noises)),
        limit=x(limit) if limit is not None and near else None,
        joined=needs == sorted(needs),
        note=told,
    )


def _scale(values: Sequence[float], first: float, last: float) -> Callable[[float], float]:
    """From values to pixels between two ends."""
    low, high = min(values), max(values)

    def place(value: float) -> float:
        part = (value - low) / (high - low) if high > low else 0.5
        return round(first + (last - first) * (MARGIN + (1 - 2 * MARGIN) * part), 1)

    return place


def _ticks(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    if low == high:
        return [low]
    return [low + (high - low) * step / (TICKS - 1) for step in range(TICKS)]
