"""Two reports side by side: what each level needs, its maps on one scale, and what became of every layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.report.build import LayerReport, Report
from tilewright.report.diff import difference, named
from tilewright.report.names import short_names
from tilewright.report.page.costs import primary_cost
from tilewright.report.page.maps import MemoryView, memory_view, scale_of
from tilewright.report.page.scale import round_count
from tilewright.report.text import UNKNOWN, number, printable

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Figure:
    """A figure before and after; `kind` is `good` where it shrank, `bad` where it grew."""

    name: str
    old: str
    new: str
    change: str
    kind: str
    old_part: float
    new_part: float


@dataclass(frozen=True)
class LayerLine:
    """A layer before and after; `fate` is empty, `added`, `removed` or `changed`."""

    name: str
    full: str
    fate: str
    op: str
    kernel: str
    old: str
    new: str
    change: str
    kind: str
    grew: float | None


@dataclass(frozen=True)
class Comparison:
    """What the page of two reports shows."""

    title: str
    old_title: str
    new_title: str
    same: bool
    figures: tuple[Figure, ...]
    maps: tuple[tuple[str, MemoryView | None, MemoryView | None], ...]
    layers: tuple[LayerLine, ...]
    unit: str
    others: tuple[tuple[str, str, str], ...]


def comparison_of(old: Report, new: Report) -> Comparison:
    """The comparison of an earlier report with a later one."""
    changes = difference(old, new)
    key, unit, _ = primary_cost((*old.layers, *new.layers))
    one_name = old.model.name == new.model.name
    sizes = [(f"size of {c.of}, B", _plain(c.old), _plain(c.new)) for c in changes.memory if c.what == "size"]
    others = [(c.what.replace("_", " "), _plain(c.old), _plain(c.new)) for c in (*changes.model, *changes.run)]
    return Comparison(
        title=new.model.name if one_name else f"{old.model.name} and {new.model.name}",
        old_title=f"{old.model.name} on {old.target}",
        new_title=f"{new.model.name} on {new.target}",
        same=changes.empty,
        figures=tuple(_figures(old, new, key, unit)),
        maps=tuple(_maps(old, new)),
        layers=tuple(_layers(old, new, key)),
        unit=unit,
        others=(*sizes, *others),
    )


def _figures(old: Report, new: Report, key: str, unit: str) -> Iterator[Figure]:
    for name in dict.fromkeys((*old.memory, *new.memory)):
        levels = [report.memory.get(name) for report in (old, new)]
        before, after = (None if level is None else level.total for level in levels)
        yield _figure(name, before, after, "B")
    if key:
        sums = [sum(getattr(layer, key) or 0 for layer in report.layers) or None for report in (old, new)]
        yield _figure(unit, sums[0], sums[1], "")
    elif old.run is not None and new.run is not None:
        for what in ("cycles", "modelled_cycles", "instructions"):
            before, after = getattr(old.run, what), getattr(new.run, what)
            if before is not None and after is not None:
                yield _figure(what.replace("_", " "), before, after, "")
    if old.model.macs != new.model.macs:
        yield _figure("multiply-accumulates", old.model.macs, new.model.macs, "")


def _figure(name: str, old: int | None, new: int | None, unit: str) -> Figure:
    most = max(old or 0, new or 0, 1)
    shown = [UNKNOWN if value is None else f"{number(value)} {unit}".strip() for value in (old, new)]
    return Figure(name, shown[0], shown[1], *_change(old, new), (old or 0) / most, (new or 0) / most)


def _change(old: int | None, new: int | None) -> tuple[str, str]:
    """The step in figures and per cent, and whether it is to the good."""
    if old is None or new is None or old == new:
        return ("no change" if old == new else "", "")
    step = f"{'+' if new > old else MINUS}{number(abs(new - old))}"
    part = 100 * abs(new - old) / old if old else 0.0
    share = f" ({'+' if new > old else MINUS}{part:.1f} %)" if part >= 0.05 else ""
    return step + share, "bad" if new > old else "good"


def _maps(old: Report, new: Report) -> Iterator[tuple[str, MemoryView | None, MemoryView | None]]:
    for name in dict.fromkeys((*old.memory, *new.memory)):
        pair = [report.memory.get(name) for report in (old, new)]
        scale = max([scale_of(level) for level in pair if level is not None and level.buffers], default=0)
        if scale:
            views = [
                None if level is None else memory_view(name, level, report.layers, _short(report.layers), scale)
                for report, level in zip((old, new), pair, strict=True)
            ]
            yield name, views[0], views[1]


def _short(layers: Sequence[LayerReport]) -> dict[str, str]:
    return short_names([layer.name for layer in layers])


def _layers(old: Report, new: Report, key: str) -> Iterator[LayerLine]:
    """All layers of the later report in its order, then those that are gone."""
    left, right = dict(named(old.layers)), dict(named(new.layers))
    short = short_names([*left, *right])
    for name, layer in right.items():
        yield _line(name, short, left.get(name), layer, key)
    for name, layer in left.items():
        if name not in right:
            yield _line(name, short, layer, None, key)


def _line(name: str, short: Mapping[str, str], old: LayerReport | None, new: LayerReport | None, key: str) -> LayerLine:
    costs = [None if layer is None or not key else getattr(layer, key) for layer in (old, new)]
    change, kind = _change(costs[0], costs[1]) if old is not None and new is not None else ("", "")
    layer = new or old
    assert layer is not None
    fate = "added" if old is None else "removed" if new is None else ""
    kernels = list(dict.fromkeys(_how(one) for one in (old, new) if one is not None))
    if not fate and (kind or len(kernels) > 1):
        fate = "changed"
    grew = None if costs[0] is None or costs[1] is None else float(costs[1] - costs[0])
    return LayerLine(
        short[name], printable(name), fate, layer.op, " → ".join(kernels), number(costs[0]), number(costs[1]),
        change, kind, grew,
    )  # fmt: skip


def _how(layer: LayerReport) -> str:
    """Kernel and tile."""
    tile = " ".join(f"{printable(loop)}={size}" for loop, size in layer.tile.items()) if layer.tile else ""
    return f"{layer.kernel} {tile}".strip() + (f" on {layer.engine}" if layer.engine else "")


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value) if abs(value) < 10**7 else f"{number(value)} ({round_count(value)})"
    return UNKNOWN if value is None else printable(str(value), 64)
