"""What the cores and the copies of a tiled target do over time, tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.report.build import LayerReport
from tilewright.report.page.scale import Tick, count_ticks, percent
from tilewright.report.text import number, printable


@dataclass(frozen=True)
class Spans:
    """A layer's kernels and copies as pairs of start and end, in cycles from its start, and its length."""

    cores: tuple[int, ...]
    copies: tuple[int, ...]
    length: int
    tiles: bool


@dataclass(frozen=True)
class Stretch:
    """One layer on the axis: `x` and `width` in per cent, `cores` and `copies` as paths over its length."""

    layer: int
    name: str
    title: str
    length: int
    x: float
    width: float
    cores: str
    copies: str
    spans: Spans


@dataclass(frozen=True)
class Timeline:
    """All layers one after the other; `source` says whether the cycles are measured or modelled."""

    stretches: tuple[Stretch, ...]
    ticks: tuple[Tick, ...]
    total: str
    computing: str
    waiting: str
    source: str


def timeline(layers: Sequence[LayerReport], short: Mapping[str, str]) -> Timeline | None:
    """The timeline of a report, None where no layer runs in tiles."""
    measured = any(tile.measured for layer in layers for tile in layer.profile)
    rows = [(index, spans_of(layer, measured)) for index, layer in enumerate(layers)]
    known = [(index, spans) for index, spans in rows if spans is not None and spans.length]
    if not any(spans.tiles for _, spans in known):
        return None
    total = sum(spans.length for _, spans in known)
    busy = sum(_busy(spans.cores) for _, spans in known)
    stretches, now = [], 0
    for index, spans in known:
        layer = layers[index]
        where = (100 * now / total, 100 * spans.length / total)
        stretches.append(
            Stretch(
                index, short[layer.name], _title(layer, spans), spans.length, *where, _path(spans.cores),
                _path(spans.copies), spans,
            )
        )  # fmt: skip
        now += spans.length
    return Timeline(
        stretches=tuple(stretches),
        ticks=count_ticks(total),
        total=number(total),
        computing=percent(busy, total),
        waiting=percent(total - busy, total),
        source="as measured" if measured else "as the cost model has them",
    )


def spans_of(layer: LayerReport, measured: bool) -> Spans | None:
    """What a layer does over time, None where nothing is known; a layer that runs whole computes all the time."""
    if measured and layer.profile and all(tile.measured for tile in layer.profile):
        return _measured(layer)
    if layer.timeline is not None:
        ends = [*layer.timeline.cores[-1:], *layer.timeline.copies[-1:], layer.modelled_cycles or 0]
        return Spans(layer.timeline.cores, layer.timeline.copies, max(ends), True)
    if layer.modelled_cycles:
        return Spans((0, layer.modelled_cycles), (), layer.modelled_cycles, False)
    return None


def _measured(layer: LayerReport) -> Spans:
    """Every tile waits, then computes; what it copies beyond the wait runs beside its kernel."""
    cores: list[int] = []
    copies: list[int] = []
    now = 0
    for tile in layer.profile:
        if tile.measured is None:
            continue
        start = now + tile.measured.wait
        end = start + tile.measured.kernel
        cores += (start, end)
        if tile.measured.copy:
            copies += (now, min(now + max(tile.measured.copy, tile.measured.wait), end))
        now = end
    return Spans(tuple(cores), tuple(copies), now, True)


def _busy(pairs: Sequence[int]) -> int:
    return sum(pairs[1::2]) - sum(pairs[::2])


def _title(layer: LayerReport, spans: Spans) -> str:
    busy = _busy(spans.cores)
    text = f"{printable(layer.name)}: {number(spans.length)} cycles"
    if not spans.tiles:
        return text + ", whole on one core, nothing is copied"
    text += f" in {len(spans.cores) // 2} tiles, computing {percent(busy, spans.length)}"
    return text + f", waiting {percent(spans.length - busy, spans.length)}, copies {number(_busy(spans.copies))} cycles"


def _path(pairs: Sequence[int]) -> str:
    """Bars of height 1, one for each pair; such as touch are one."""
    joined: list[list[int]] = []
    for start, end in zip(pairs[::2], pairs[1::2], strict=True):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return "".join(f"M{start} 0H{end}V1H{start}Z" for start, end in joined)
