"""Everything that the page of one report shows, as one frozen value that is derived from report.json alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.memory.needs import MemoryReport, verdict_of
from tilewright.report.build import Report
from tilewright.report.names import short_names
from tilewright.report.page.costs import CostTable, cost_table, why_slow
from tilewright.report.page.data_set import DataSetView, accuracy_note, data_set_view
from tilewright.report.page.graph import GraphView, graph_view
from tilewright.report.page.maps import MemoryView, memory_view, scale_of
from tilewright.report.page.scale import percent, round_bytes, round_count
from tilewright.report.page.timeline import Timeline, timeline
from tilewright.report.text import number, part_bytes, printable, run_lines, toolchain, total


@dataclass(frozen=True)
class Part:
    """A part of what a level needs: per cent of the bar."""

    name: str
    size: str
    percent: float


@dataclass(frozen=True)
class LevelCard:
    """A memory level in a few figures; `used` is empty where its size is not known."""

    name: str
    needed: str
    size: str
    used: str
    status: str
    fits: bool
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Figure:
    """A number to look at first: its name, its value with a unit, and a line about it."""

    name: str
    value: str
    unit: str
    note: str
    good: bool | None = None


@dataclass(frozen=True)
class Page:
    """The page of one report."""

    title: str
    target: str
    verdict: str
    fits: bool
    figures: tuple[Figure, ...]
    levels: tuple[LevelCard, ...]
    graph: GraphView | None
    maps: tuple[MemoryView, ...]
    timeline: Timeline | None
    costs: CostTable
    facts: tuple[tuple[str, str], ...]
    run: tuple[str, ...]
    data: str
    data_set: DataSetView | None = None


def page_of(report: Report) -> Page:
    """What the page of a report shows."""
    short = short_names([layer.name for layer in report.layers])
    views = (memory_view(name, m, report.layers, short, scale_of(m)) for name, m in report.memory.items())
    maps = tuple(view for view in views if view is not None)
    costs, times = cost_table(report, short), timeline(report.layers, short)
    fits = all(level.fits for level in report.memory.values())
    return Page(
        title=report.model.name,
        target=report.target if report.target == report.platform else f"{report.target} · {report.platform}",
        verdict=verdict_of(report.memory.values()),
        fits=fits,
        figures=tuple(_figures(report, costs)),
        levels=tuple(level_card(name, level) for name, level in report.memory.items()),
        graph=graph_view(report, short),
        maps=maps,
        timeline=times,
        costs=costs,
        facts=_facts(report),
        run=tuple(run_lines(report.run, bool(report.model.states) or report.bundle is not None).split("\n"))
        if report.run
        else (),
        data=_data(report, short, costs, times),
        data_set=data_set_view(report.run) if report.run else None,
    )


def level_card(name: str, level: MemoryReport) -> LevelCard:
    """A level with the parts of its worst moment, in per cent of its size, or of what it needs where that is not known.

    A bar whose parts would be a sliver of a large memory shows the parts alone.
    """
    whole = max(level.size or 0, level.total, 1)
    if level.total * 20 < whole:
        whole = max(level.total, 1)
    return LevelCard(
        name=name,
        needed=total(level),
        size="" if level.size is None else round_bytes(level.size),
        used="" if level.size is None else percent(level.total, level.size),
        status=level.verdict,
        fits=level.fits,
        parts=tuple(
            Part(part.replace("_", " "), part_bytes(level, part), 100 * size / whole)
            for part, size in level.parts().items()
            if size
        ),
    )


def _figures(report: Report, costs: CostTable) -> list[Figure]:
    """What one wants to know first."""
    model, run = report.model, report.run
    figures = []
    if run is not None:
        note = f"{number(run.elements)} elements compared"
        figures.append(Figure("outputs", "match" if run.match else "differ", "", note, run.match))
        if run.accuracy is not None:
            figures.append(Figure("accuracy", f"{100 * run.accuracy:.2f}", "%", accuracy_note(run)))
    if run is not None and not costs.unit:
        whole = (("cycles", run.cycles), ("modelled cycles", run.modelled_cycles), ("instructions", run.instructions))
        figures += [Figure(name, round_count(n), "", number(n)) for name, n in whole if n]
    if costs.unit:
        rate = f", {costs.total / model.macs:.2f} per MAC" if model.macs else ""
        figures.append(Figure(costs.unit, round_count(costs.total), "", f"{number(costs.total)}{rate}"))
    note = f"{number(model.nodes)} nodes, {round_bytes(model.parameter_bytes)} of parameters"
    return [*figures, Figure("multiply-accumulates", round_count(model.macs), "", note)]


def _facts(report: Report) -> tuple[tuple[str, str], ...]:
    model = report.model
    tensors = [
        (label, ", ".join(f"{printable(t.name)} {t.dtype} {'x'.join(map(str, t.shape)) or 'scalar'}" for t in ports))
        for label, ports in (("inputs", model.inputs), ("outputs", model.outputs))
    ]
    saved = [f"{p.name} {number(p.saved_bytes)} B" for p in report.passes if p.saved_bytes]
    return (
        ("target", report.target),
        ("platform", report.platform),
        *tensors,
        ("quantised as", model.quantisation.form or "not quantised"),
        *([("saved by passes", ", ".join(saved))] if saved else []),
        ("compiler", toolchain(report.toolchain) if report.toolchain else "not built"),
        ("tilewright", report.tool.version),
        ("SHA-256 of the model", model.sha256),
    )


def _data(report: Report, short: Mapping[str, str], costs: CostTable, times: Timeline | None) -> str:
    """What the script looks up: names, who reads whom, colours, tiles. JSON that may stand inside of a page."""
    makers = {result.tensor: index for index, layer in enumerate(report.layers) for result in layer.results}
    value = {
        "names": [printable(layer.name, 2000) for layer in report.layers],
        "short": [short[layer.name] for layer in report.layers],
        "reads": [
            list(dict.fromkeys(makers[tensor] for tensor in layer.operands if tensor in makers))
            for layer in report.layers
        ],
        "slow": {str(n): why for n, layer in enumerate(report.layers) if (why := why_slow(layer))},
        "colours": [
            {"label": c.label, "values": c.values, "texts": c.texts, "chain": c.chain} for c in costs.colourings
        ],
        "tiles": {}
        if times is None
        else {str(s.layer): [s.spans.cores, s.spans.copies] for s in times.stretches if s.spans.tiles},
    }
    return inside_a_page(json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False))


def inside_a_page(text: str) -> str:
    """JSON whose strings cannot end the element that holds it."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
