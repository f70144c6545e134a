"""Where the time goes: the layers that cost most, with what would make them cheaper; slow paths in words."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.report.build import LayerReport, MemberReport, Report
from tilewright.report.chains import Line, lines
from tilewright.report.costs import cost_of, in_cycles
from tilewright.report.names import short_names
from tilewright.report.slow import FasterReport, SlowReport
from tilewright.report.text import number, table

MOST = 3
"""Layers that are named."""
NAMED = 6
"""Numbers of layers that are listed where several are slow for one reason."""


@dataclass(frozen=True)
class Cost:
    """A layer, or a node inside of a chain of rows, with what it costs; one that runs others has the cost of all."""

    number: int
    name: str
    op: str
    kernel: str
    cost: int
    slow: SlowReport | None
    with_aim: FasterReport | None


def costs(report: Report) -> list[Cost]:
    """Everything that has a cost of its own, the most expensive first."""
    cycles = in_cycles(report.layers)
    dearest = []
    for line in lines(report.layers):
        layer, inside = line.layer, line.inside
        if isinstance(inside, MemberReport):
            cost = inside.estimated_cost or 0
            dearest.append(Cost(line.number, inside.name, inside.op, inside.kernel, cost, inside.slow, inside.with_aim))
        elif inside is None and not layer.members:
            cost, _ = cost_of(layer, cycles=cycles)
            op = layer.op if len(line.group) == 1 else f"{len(line.group)} layers"
            dearest.append(Cost(line.number, layer.name, op, layer.kernel, cost, _slowest(line.group), layer.with_aim))
    return sorted(dearest, key=lambda one: -one.cost)


def expensive(report: Report, width: int | None = None) -> str:
    """The layers that cost most as a table, and of each what would make it cheaper."""
    every = costs(report)
    total = sum(one.cost for one in every)
    most = [one for one in every[:MOST] if one.cost]
    if not most:
        return ""
    measured = report.run is not None and report.run.instructions is not None
    unit = "cycles" if in_cycles(report.layers) else "instructions"
    how = "counted" if measured and unit == "instructions" else "estimated"
    names = short_names([one.name for one in every])
    rows = [
        [f"{one.number}", names[one.name], one.op, one.kernel, number(one.cost), f"{100 * one.cost / total:.0f} %"]
        for one in most
    ]
    heads = ["#", "layer", "op", "kernel", unit, "share"]
    text = f"the layers that cost most, {unit} as {how}\n" + table(heads, rows, right=(0, 4, 5), width=width)
    told: dict[str, list[int]] = {}
    for one in most:
        told.setdefault(advice(one, unit), []).append(one.number)
    return text + "".join(
        f"\n{', '.join(str(n) for n in dict.fromkeys(numbers))}: {sentence}" for sentence, numbers in told.items()
    )


def advice(one: Cost, unit: str) -> str:
    """What would make a layer cheaper."""
    if one.slow is not None:
        return f"SLOW: {one.slow}"
    if one.with_aim is not None:
        times = one.with_aim.cost / max(one.cost, 1)
        return f"with {one.with_aim.why} {one.with_aim.kernel} takes it, about {times:.2f} of these {unit}"
    return "nothing faster is known here"


def slow_of(line: Line) -> str:
    """How many times slower than it could be, for a column of a table; of a chain the slowest of its members."""
    if line.inside is not None:
        return line.inside.slow.factor if line.inside.slow is not None else ""
    slow = _slowest((*line.group, *line.layer.members))
    return slow.factor if slow is not None else ""


def slow_lines(report: Report) -> list[str]:
    """A sentence for every reason for which layers are slow, with their numbers."""
    reasons: dict[tuple[str, str], list[tuple[int, SlowReport]]] = {}
    for line in lines(report.layers):
        own = line.inside if line.inside is not None else line.layer if len(line.group) == 1 else None
        if own is not None and own.slow is not None:
            reasons.setdefault((own.slow.kernel, own.slow.why), []).append((line.number, own.slow))
    told = []
    for slow in reasons.values():
        numbers = list(dict.fromkeys(number for number, _ in slow))
        which = ", ".join(map(str, numbers[:NAMED])) + (f" and {len(numbers) - NAMED} more" * (len(numbers) > NAMED))
        most = max((one for _, one in slow), key=lambda one: one.times)
        told.append(f"SLOW: layer{'s' * (len(numbers) > 1)} {which}: {most}")
    return told


def _slowest(group: tuple[LayerReport | MemberReport, ...]) -> SlowReport | None:
    return max((one.slow for one in group if one.slow is not None), key=lambda one: one.times, default=None)
