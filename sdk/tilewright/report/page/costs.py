"""The layers as a table of what they cost: columns that no row fills are left out, a chain has its members below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tilewright.report.build import LayerReport, MemberReport, Report
from tilewright.report.chains import chains, members_of
from tilewright.report.names import short_names
from tilewright.report.page.scale import percent
from tilewright.report.page.timeline import spans_of
from tilewright.report.text import number, printable

_COSTS = (
    ("cycles", "cycles", "counted by the simulator"),
    ("core_cycles", "cycles", "of the instructions that ran, by the table of the core"),
    ("instructions", "instructions", "counted in the run"),
    ("modelled_cycles", "cycles", "as the cost model has them, nothing ran"),
)


@dataclass(frozen=True)
class Cell:
    """A figure as text; `value` sorts, `bar` is its part of the column's largest, `title` explains it."""

    text: str
    value: float | None = None
    bar: float | None = None
    title: str = ""


@dataclass(frozen=True)
class Row:
    """A layer, or a node inside of one: `kind` is `layer`, `chain` or `inside`."""

    layer: int
    kind: str
    name: str
    full: str
    op: str
    kernel: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Colouring:
    """What the graph can be coloured by: a value for each layer, None where there is none.

    With `chain` the value of a chain's last layer is that of the whole chain.
    """

    label: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    chain: bool


@dataclass(frozen=True)
class CostTable:
    """Heads with what they mean, groups of rows that stay together, and what the graph can be coloured by."""

    heads: tuple[tuple[str, str], ...]
    groups: tuple[tuple[Row, ...], ...]
    colourings: tuple[Colouring, ...]
    unit: str
    source: str
    total: int
    heaviest: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class _Column:
    head: str
    meaning: str
    cell: Callable[[int], Cell | None]
    inside: bool = False


def cost_table(report: Report, short: Mapping[str, str]) -> CostTable:
    """The table of a report."""
    layers = report.layers
    name, unit, source = primary_cost(layers)
    counts = [getattr(layer, name) if name else None for layer in layers]
    columns = [column for column in _columns(layers, counts, unit, source) if _filled(column, len(layers))]
    groups = [_group(layers, group, columns, short) for group in chains(layers).values()]
    total = sum(count or 0 for count in counts)
    heavy = sorted((n for n, count in enumerate(counts) if count), key=lambda n: -(counts[n] or 0))[:3]
    return CostTable(
        heads=tuple((column.head, column.meaning) for column in columns),
        groups=tuple(groups),
        colourings=tuple(_colourings(layers, counts, unit)),
        unit=unit,
        source=source,
        total=total,
        heaviest=tuple((n, short[layers[n].name], percent(counts[n] or 0, total)) for n in heavy),
    )


def primary_cost(layers: Sequence[LayerReport]) -> tuple[str, str, str]:
    """Which figure tells what layers cost: its key in the report, its unit, and where it is from; empty where none."""
    for key, unit, source in _COSTS:
        if any(getattr(layer, key) for layer in layers):
            return key, unit, source
    return "", "", ""


def _columns(layers: Sequence[LayerReport], counts: Sequence[int | None], unit: str, source: str) -> Sequence[_Column]:
    total, most = sum(count or 0 for count in counts), max([count or 0 for count in counts] + [1])
    best = _best(layers, counts)

    def share(n: int) -> Cell | None:
        count = counts[n]
        return None if count is None else Cell(percent(count, total), count, count / most)

    def rate(n: int) -> Cell | None:
        count, macs = counts[n], layers[n].macs
        return Cell(f"{count / macs:.2f}", count / macs) if count and macs else None

    def against(n: int) -> Cell | None:
        count, macs, least = counts[n], layers[n].macs, best.get(layers[n].op)
        if not count or not macs or least is None:
            return None
        times = count / macs / least
        return Cell("best" if times < 1.005 else f"{times:.1f} x", times)

    def waits(n: int) -> Cell | None:
        spans = spans_of(layers[n], any(tile.measured for tile in layers[n].profile))
        if spans is None or not spans.tiles:
            return None
        busy = sum(spans.cores[1::2]) - sum(spans.cores[::2])
        return Cell(percent(spans.length - busy, spans.length), (spans.length - busy) / max(spans.length, 1))

    def figure(key: str) -> Callable[[int], Cell | None]:
        return lambda n: _known(getattr(layers[n], key))

    return (
        _Column(unit or "cost", source, lambda n: _known(counts[n])),
        _Column("share", f"of all {unit}", share),
        _Column("instructions", "counted in the run", figure("instructions") if unit != "instructions" else _nothing),
        _Column("MACs", "multiply-accumulates", lambda n: _known(layers[n].macs or None), inside=True),
        _Column(f"{unit} per MAC", f"{unit} for one multiply-accumulate", rate),
        _Column("vs best", "per MAC, against the cheapest layer of the same operator here", against),
        _Column("slow", "so many times the best kernel of the operator", lambda n: _slow(layers[n]), inside=True),
        _Column("waiting", "part of the time in which the cores wait for copies", waits),
        _Column(
            "bytes copied", "bytes between the levels", lambda n: _known(sum(layers[n].copied_bytes.values()) or None)
        ),
        _Column(
            "bytes moved",
            "bytes that the core loads and stores, counted in the run",
            lambda n: _known(_moved(layers[n])),
        ),
        _Column("result bytes", "bytes of the results", lambda n: _known(_result(layers[n])), inside=True),
        _Column("largest error", "against the NumPy execution of the plan", lambda n: _error(layers[n]), inside=True),
        _Column("tile", "steps of the loops that are cut, and how many tiles", lambda n: _tile(layers[n]), inside=True),
        _Column("numerics", "what the kernel promises", lambda n: Cell(layers[n].numerics), inside=True),
    )


def why_slow(layer: LayerReport) -> str:
    """Why a layer, or a node inside of it, runs on a slow path; empty where none does."""
    told = [f"{printable(m.name)} takes {m.slow}" for m in layer.members if m.slow is not None]
    return layer.instead_of or "; ".join(([f"it takes {layer.slow}"] if layer.slow is not None else []) + told)


def _slow(layer: LayerReport) -> Cell | None:
    """Of a chain of rows its slowest node."""
    slow_paths = [slow for slow in (layer.slow, *(one.slow for one in layer.members)) if slow is not None]
    most = max(slow_paths, key=lambda one: one.times, default=None)
    return None if most is None else Cell(most.factor, most.times, title=str(most))


def _nothing(_: int) -> Cell | None:
    return None


def _known(value: int | None) -> Cell | None:
    return None if value is None else Cell(number(value), value)


def _moved(layer: LayerReport) -> int | None:
    return None if layer.loaded_bytes is None else layer.loaded_bytes + (layer.stored_bytes or 0)


def _result(layer: LayerReport) -> int:
    return sum(result.bytes for result in layer.results)


def _tile(layer: LayerReport) -> Cell | None:
    if layer.tile is None:
        return None
    size = " ".join(f"{printable(loop)}={size}" for loop, size in layer.tile.items())
    return Cell(f"{size} x {layer.tiles}" if layer.tiles > 1 else "whole", layer.tiles)


def _error(layer: LayerReport) -> Cell | None:
    if layer.max_lsb_error is not None:
        return Cell(f"{number(layer.max_lsb_error)} steps" if layer.max_lsb_error else "0", layer.max_lsb_error)
    return None if layer.max_abs_error is None else Cell(number(layer.max_abs_error), layer.max_abs_error)


def _best(layers: Sequence[LayerReport], counts: Sequence[int | None]) -> dict[str, float]:
    """The least cost of a multiply-accumulate by operator, where several layers outside of chains can be compared."""
    rates_of: dict[str, list[float]] = {}
    for group in chains(layers).values():
        layer, count = layers[group[-1]], counts[group[-1]]
        if len(group) == 1 and not layer.nodes and count and layer.macs:
            rates_of.setdefault(layer.op, []).append(count / layer.macs)
    return {op: min(rates) for op, rates in rates_of.items() if len(rates) > 1}


def _filled(column: _Column, count: int) -> bool:
    """Whether a row has the figure; for the numerics, whether rows differ."""
    cells = [cell for n in range(count) if (cell := column.cell(n)) is not None and cell.text]
    return bool(cells) and (column.head != "numerics" or len({cell.text for cell in cells}) > 1)


def _group(
    layers: Sequence[LayerReport], group: tuple[int, ...], columns: Sequence[_Column], short: Mapping[str, str]
) -> tuple[Row, ...]:
    """The rows of a chain: the whole with its costs, then what is inside of it; or the one row of a single layer."""
    leader = layers[group[-1]]
    if len(group) > 1:
        cells = tuple(_whole(layers, group, column) for column in columns)
        label = " → ".join(short[layers[n].name] for n in group)
        head = Row(group[-1], "chain", label, printable(leader.name), f"{len(group)} layers", "tile by tile", cells)
        return head, *(_row(layers, n, columns, short, chain=True) for n in group)
    row = _row(layers, group[0], columns, short, chain=False)
    members = members_of(leader)
    names = short_names([member.name for member in members])
    inside = (
        Row(
            group[0], "inside", names[m.name], printable(m.name), m.op, m.kernel,
            tuple(_of_member(m, column.head) for column in columns),
        )
        for m in members
    )  # fmt: skip
    return row, *inside


def _of_member(member: MemberReport, head: str) -> Cell:
    """What is known of a node inside of a layer; nothing tells its cost from the others'."""
    if head == "slow" and member.slow is not None:
        return Cell(member.slow.factor, member.slow.times, title=str(member.slow))
    return Cell(number(member.macs)) if head == "MACs" and member.macs else Cell("")


def _row(
    layers: Sequence[LayerReport], n: int, columns: Sequence[_Column], short: Mapping[str, str], *, chain: bool
) -> Row:
    layer = layers[n]
    cells = tuple((column.cell(n) if column.inside or not chain else None) or Cell("") for column in columns)
    kernel = layer.kernel + (f" on {layer.engine}" if layer.engine else "")
    kind = "inside" if chain else "layer"
    return Row(n, kind, short[layer.name], printable(layer.name, 2000), layer.op, kernel, cells)


def _whole(layers: Sequence[LayerReport], group: Sequence[int], column: _Column) -> Cell:
    """The figure of a whole chain: that of the layer that runs it; of multiply-accumulates the sum."""
    if column.head == "MACs":
        return Cell(number(sum(layers[n].macs for n in group)), sum(layers[n].macs for n in group))
    if column.head.endswith("per MAC"):
        cost, macs = column.cell(group[-1]), sum(layers[n].macs for n in group)
        if cost is None or cost.value is None or not macs:
            return Cell("")
        rate = cost.value * layers[group[-1]].macs / macs
        return Cell(f"{rate:.2f}", rate)
    if column.head in ("vs best", "slow", "tile", "result bytes", "largest error", "numerics"):
        return Cell("")
    return column.cell(group[-1]) or Cell("")


def _colourings(layers: Sequence[LayerReport], counts: Sequence[int | None], unit: str) -> list[Colouring]:
    """Cost, multiply-accumulates, bytes and errors, as far as they are known."""

    def of(label: str, values: Sequence[float | None], texts: Sequence[str], chain: bool) -> Colouring:
        return Colouring(label, tuple(values), tuple(texts), chain)

    total = sum(count or 0 for count in counts)
    colourings = [of(unit, counts, ["" if c is None else percent(c, total) for c in counts], True)] if unit else []
    macs = [layer.macs for layer in layers]
    colourings.append(of("multiply-accumulates", macs, [percent(m, sum(macs)) for m in macs], False))
    sizes = [_result(layer) for layer in layers]
    colourings.append(of("bytes of the result", sizes, [f"{number(size)} B" for size in sizes], False))
    moved = [_moved(layer) for layer in layers]
    if any(moved):
        colourings.append(of("bytes moved", moved, ["" if m is None else f"{number(m)} B" for m in moved], True))
    errors = [_error(layer) for layer in layers]
    if any(errors):
        colourings.append(
            of("error", [e.value if e else None for e in errors], [e.text if e else "" for e in errors], False)
        )
    return [one for one in colourings if any(value is not None for value in one.values)]
