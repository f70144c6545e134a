"""The report as one self-contained HTML page: no network, no library, names escaped.

The map of a level shows every buffer as a box, time to the right and addresses upwards. This module computes every
number; the template beside it holds the layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.memory.levels import PARTS, BufferReport, MemoryReport
from tilewright.report.build import LayerReport, Report
from tilewright.report.text import number, of_size, printable, run_lines, status, toolchain

if TYPE_CHECKING:
    from mako.template import Template

WIDTH, HEIGHT = 1000, 320
TEMPLATE = Path(__file__).with_name("report.html.mako")


@dataclass(frozen=True)
class Box:
    """A buffer in the map: SVG units from the upper left corner."""

    name: str
    kind: str
    title: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Line:
    """A labelled line of the map: a height of interest, `y` in SVG units."""

    label: str
    y: float


@dataclass(frozen=True)
class Map:
    """The map of one level; `worst` is the (x, width) of the instruction with most bytes alive."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    worst: tuple[float, float]
    worst_caption: str
    worst_alive: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Part:
    """A part of the worst case: per cent of the bar."""

    name: str
    size: str
    percent: float


@dataclass(frozen=True)
class Level:
    """One memory level: its bar, and its map where buffers were placed in it."""

    name: str
    used: str
    status: str
    readonly: bool
    parts: tuple[Part, ...]
    map: Map | None


@dataclass(frozen=True)
class Layer:
    """One row of the layer table; bars are per cent of the largest."""

    index: int
    name: str
    op: str
    kernel: str
    numerics: str
    tile: str
    macs: str
    macs_percent: float
    moved: str
    moved_percent: float
    measured: str
    measured_percent: float
    error: str


@dataclass(frozen=True)
class Page:
    """Everything that the template prints."""

    title: str
    facts: tuple[tuple[str, str], ...]
    levels: tuple[Level, ...]
    layers: tuple[Layer, ...]
    measured_in: str
    run: tuple[str, ...]
    run_ok: bool
    width: int = WIDTH
    height: int = HEIGHT


def render(report: Report) -> str:
    """The page as text; the same report gives the same bytes."""
    text: str = _template().render_unicode(page=page(report))
    return text


def page(report: Report) -> Page:
    """What the page shows."""
    measured_in = next(
        (unit for unit in ("cycles", "instructions") if any(getattr(layer, unit) for layer in report.layers)), ""
    )
    return Page(
        title=f"{report.model.name} on {report.target}",
        facts=_facts(report),
        levels=tuple(_level(name, level, report) for name, level in report.memory.items()),
        layers=_layers(report.layers, measured_in),
        measured_in=measured_in,
        run=tuple(run_lines(report.run).split("\n")) if report.run else (),
        run_ok=report.run.match if report.run else False,
    )


@cache
def _template() -> Template:
    from mako.template import Template

    return Template(filename=str(TEMPLATE), default_filters=["h"], strict_undefined=True)


def _facts(report: Report) -> tuple[tuple[str, str], ...]:
    model = report.model
    tensors = [
        (label, ", ".join(f"{printable(t.name)} {t.dtype} {'x'.join(map(str, t.shape)) or 'scalar'}" for t in found))
        for label, found in (("inputs", model.inputs), ("outputs", model.outputs))
    ]
    return (
        ("platform", report.platform),
        ("nodes", number(model.nodes)),
        ("multiply-accumulates", number(model.macs)),
        ("parameters", f"{number(model.parameter_bytes)} B"),
        *tensors,
        ("quantised as", model.quantisation.form or "not quantised"),
        ("compiler", toolchain(report.toolchain) if report.toolchain else "not built"),
        ("tilewright", report.tool.version),
        ("SHA-256 of the model", model.sha256),
    )


def _level(name: str, level: MemoryReport, report: Report) -> Level:
    whole = max(level.size or 0, level.needed, 1)
    sizes = level.parts() | {"code": level.code or 0}
    parts = [
        Part(part.replace("_", " "), number(sizes[part]), 100 * sizes[part] / whole)
        for part in (*PARTS, "code")
        if sizes[part]
    ]
    return Level(
        name=name,
        used=of_size(level.needed, level.size),
        status=status(level),
        readonly=level.readonly,
        parts=tuple(parts),
        map=_map(level, [layer.name for layer in report.layers]) if level.buffers else None,
    )


def _covered(alive: Sequence[BufferReport]) -> int:
    """Bytes under the buffers, those that two share counted once."""
    total = end = 0
    for buffer in sorted(alive, key=lambda b: b.offset):
        total += max(0, buffer.offset + buffer.size - max(end, buffer.offset))
        end = max(end, buffer.offset + buffer.size)
    return total


def _map(level: MemoryReport, layers: list[str]) -> Map:
    instructions = max(len(layers), *(buffer.last + 1 for buffer in level.buffers))
    top = max(buffer.offset + buffer.size for buffer in level.buffers)
    column, byte = WIDTH / instructions, HEIGHT / max(top, level.live_set or 0, 1)
    alive = [_covered([b for b in level.buffers if b.first <= time <= b.last]) for time in range(instructions)]
    worst = alive.index(max(alive))
    at_worst = sorted((b for b in level.buffers if b.first <= worst <= b.last), key=lambda b: (-b.size, b.offset))
    lines = [Line(f"{number(top)} B placed", HEIGHT - top * byte)]
    if level.lower_bound is not None and level.lower_bound != top:
        lines.append(Line(f"{number(level.lower_bound)} B lower bound", HEIGHT - level.lower_bound * byte))
    where = f"instruction {worst}" + (f", {printable(layers[worst])}" if worst < len(layers) else "")
    twice = sum(b.size for b in at_worst) - alive[worst]
    shared = f", which share {number(twice)} B" if twice else ""
    return Map(
        boxes=tuple(_box(buffer, level.buffers, column, byte) for buffer in level.buffers),
        lines=tuple(lines),
        worst=(worst * column, column),
        worst_caption=f"Most bytes are alive at {where}: {number(alive[worst])} B in {len(at_worst)} buffers{shared}.",
        worst_alive=tuple((printable(b.name), b.kind.replace("_", " "), number(b.size)) for b in at_worst),
    )


def _whole(buffer: BufferReport, buffers: Sequence[BufferReport]) -> str:
    """The name of the buffer whose bytes this one shows a part of, empty where it has bytes of its own."""
    for other in buffers:
        inside = other.offset <= buffer.offset and buffer.offset + buffer.size <= other.offset + other.size
        if inside and buffer.size < other.size and buffer.first <= other.last and other.first <= buffer.last:
            return printable(other.name)
    return ""


def _box(buffer: BufferReport, buffers: Sequence[BufferReport], column: float, byte: float) -> Box:
    name = printable(buffer.name)
    end = buffer.offset + buffer.size
    whole = _whole(buffer, buffers)
    return Box(
        name=name,
        kind=buffer.kind,
        title=f"{name} ({buffer.kind.replace('_', ' ')}): {number(buffer.size)} B at {buffer.offset:#x} to {end:#x}, "
        f"instructions {buffer.first} to {buffer.last}" + (f", over bytes of {whole}" if whole else ""),
        x=buffer.first * column,
        y=HEIGHT - end * byte,
        width=(buffer.last + 1 - buffer.first) * column,
        height=buffer.size * byte,
    )


def _layers(layers: tuple[LayerReport, ...], measured_in: str) -> tuple[Layer, ...]:
    moved = [(layer.loaded_bytes or 0) + (layer.stored_bytes or 0) for layer in layers]
    counts: list[int | None] = [getattr(layer, measured_in) if measured_in else None for layer in layers]
    most_macs = max([layer.macs for layer in layers] + [1])
    most_moved, most_counted = max([*moved, 1]), max([*(count or 0 for count in counts), 1])
    rows = []
    for index, layer in enumerate(layers):
        error = number(layer.max_abs_error)
        if layer.max_lsb_error is not None:
            error = f"{number(layer.max_lsb_error)} steps"
        rows.append(
            Layer(
                index=index,
                name=printable(layer.name),
                op=layer.op,
                kernel=layer.kernel + (f" on {layer.engine}" if layer.engine else ""),
                numerics=layer.numerics,
                tile=" ".join(f"{k}={v}" for k, v in layer.tile.items()) + f" x {layer.tiles}"
                if layer.tile
                else "whole",
                macs=number(layer.macs),
                macs_percent=100 * layer.macs / most_macs,
                moved=number(moved[index]) if layer.loaded_bytes is not None else number(None),
                moved_percent=100 * moved[index] / most_moved,
                measured=number(counts[index]),
                measured_percent=100 * (counts[index] or 0) / most_counted,
                error=error,
            )
        )
    return tuple(rows)
