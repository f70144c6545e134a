"""What layers cost, as measured or as estimated, and which of them run on a slow path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.report.build import LayerReport, Report
from tilewright.report.slow import FasterReport, SlowReport

SLOW_FROM = 4.0
"""Times the fastest kernel from which a layer is called slow."""
WORTH = 0.01
"""The least part of a network's cost that is worth a word."""


def in_cycles(layers: Sequence[LayerReport]) -> bool:
    """Whether costs are cycles: of a platform with a model of time."""
    return any(layer.modelled_cycles is not None for layer in layers)


def cost_of(layer: LayerReport, *, cycles: bool) -> tuple[int, bool]:
    """What a layer costs, and whether that was measured."""
    measured = layer.cycles if cycles else layer.instructions
    if measured is not None:
        return measured, True
    modelled = layer.modelled_cycles if cycles else None
    return max(modelled or 0, layer.estimated_cost or 0), False


def with_slow(report: Report) -> Report:
    """The report with its layers, and nodes inside of them, told slow or not by what is known of them now."""
    cycles = in_cycles(report.layers)
    costs = [cost_of(layer, cycles=cycles) for layer in report.layers]
    least = WORTH * sum(cost for (cost, _), layer in zip(costs, report.layers, strict=True) if not layer.fused_into)
    layers = []
    for layer, (cost, measured) in zip(report.layers, costs, strict=True):
        members = tuple(
            replace(one, slow=_slow(one.faster, one.estimated_cost or 0, least, measured=False))
            for one in layer.members
        )
        if cycles and _runs_others(report, layer):
            cost, measured = layer.estimated_cost or 0, False
        layers.append(replace(layer, members=members, slow=_slow(layer.faster, cost, least, measured=measured)))
    return replace(report, layers=tuple(layers))


def _runs_others(report: Report, layer: LayerReport) -> bool:
    """Whether other layers are computed in this one's tiles, whose costs cannot be told apart."""
    return any(other.fused_into == layer.name for other in report.layers)


def _slow(faster: FasterReport | None, cost: int, least: float, *, measured: bool) -> SlowReport | None:
    if faster is None or cost < max(least, SLOW_FROM * faster.cost):
        return None
    return SlowReport(round(cost / max(faster.cost, 1), 1), faster.kernel, faster.why, measured)
