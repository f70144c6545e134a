"""What the cores, an engine and the copies of a tiled target do over time, tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.report.build import LayerReport
from tilewright.report.page.scale import Tick, count_ticks, percent
from tilewright.report.text import number, printable


@dataclass(frozen=True)
class Spans:
    """A layer's kernels, copies and jobs of an engine as pairs of start and end, in cycles from its start; its length,
    and in how many tiles it runs, 0 for a whole one."""

    cores: tuple[int, ...]
    copies: tuple[int, ...]
    length: int
    tiles: int
    engine: tuple[int, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Stretch:
    """One layer on the axis: `x` and `width` in per cent, `cores`, `engine` and `copies` as paths over its length."""

    layer: int
    name: str
    title: str
    length: int
    x: float
    width: float
    cores: str
    copies: str
    engine: str
    spans: Spans


@dataclass(frozen=True)
class Timeline:
    """All layers one after the other; `source` says whether the cycles are measured or modelled, `engine` names what
    takes jobs, empty where nothing does."""

    stretches: tuple[Stretch, ...]
    ticks: tuple[Tick, ...]
    total: str
    computing: str
    waiting: str
    source: str
    engine: str = ""


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
                _path(spans.copies), _path(spans.engine), spans,
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
        engine=" and ".join(sorted({printable(spans.unit) for _, spans in known if spans.engine})),
    )


def spans_of(layer: LayerReport, measured: bool) -> Spans | None:
    """What a layer does over time, None where nothing is known; a layer that runs whole computes all the time."""
    if measured and layer.profile and all(tile.measured for tile in layer.profile):
        return _measured(layer)
    if layer.timeline is not None:
        own = layer.timeline
        ends = [*own.cores[-1:], *own.copies[-1:], *own.engine[-1:], layer.modelled_cycles or 0]
        return Spans(own.cores, own.copies, max(ends), max(1, layer.tiles), own.engine, own.unit)
    if layer.modelled_cycles:
        return Spans((0, layer.modelled_cycles), (), layer.modelled_cycles, 0)
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
    return Spans(tuple(cores), tuple(copies), now, len(layer.profile))


def _busy(pairs: Sequence[int]) -> int:
    return sum(pairs[1::2]) - sum(pairs[::2])


def _title(layer: LayerReport, spans: Spans) -> str:
    busy = _busy(spans.cores)
    text = f"{printable(layer.name)}: {number(spans.length)} cycles"
    if not spans.tiles:
        return text + ", whole on one core, nothing is copied"
    text += f" in {spans.tiles} tiles, computing {percent(busy, spans.length)}"
    if spans.engine:
        text += f", {printable(spans.unit)} {percent(_busy(spans.engine), spans.length)}"
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
