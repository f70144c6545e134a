"""Layers that are computed together: fused chains, tile by tile, and nodes of one layer, row by row."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.report.build import LayerReport, MemberReport


def chains(layers: Sequence[LayerReport]) -> dict[int, tuple[int, ...]]:
    """Layers by the one whose schedule runs them, itself last; one that runs alone is its own."""
    place = {layer.name: index for index, layer in enumerate(layers)}
    found: dict[int, list[int]] = {}
    for index, layer in enumerate(layers):
        found.setdefault(place.get(layer.fused_into, index), []).append(index)
    return {leader: tuple(sorted(found[leader])) for leader in sorted(found)}


def members_of(layer: LayerReport) -> tuple[MemberReport, ...]:
    """The nodes that a layer computes by rows; from reports without them, their names alone."""
    return layer.members or tuple(MemberReport(name, "", 0, (), ()) for name in layer.nodes)
