"""Layers that are computed together: fused chains, tile by tile, and nodes of one layer, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.report.build import LayerReport, MemberReport


@dataclass(frozen=True)
class Line:
    """A row of a table of layers: a `layer`, alone or that of a whole chain, or what is `inside` of one.

    `group` are the layers that the row stands for: all of a fused chain, of which `layer` is the one that runs them.
    """

    number: int
    layer: LayerReport
    group: tuple[LayerReport, ...]
    inside: LayerReport | MemberReport | None = None

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all that the row stands for."""
        return self.inside.macs if self.inside is not None else sum(layer.macs for layer in self.group)


def chains(layers: Sequence[LayerReport]) -> dict[int, tuple[int, ...]]:
    """Layers by the one whose schedule runs them, itself last; one that runs alone is its own."""
    place = {layer.name: index for index, layer in enumerate(layers)}
    by_leader: dict[int, list[int]] = {}
    for index, layer in enumerate(layers):
        by_leader.setdefault(place.get(layer.fused_into, index), []).append(index)
    return {leader: tuple(sorted(by_leader[leader])) for leader in sorted(by_leader)}


def members_of(layer: LayerReport) -> tuple[MemberReport, ...]:
    """The nodes that a layer computes by rows; from reports without them, their names alone."""
    return layer.members or tuple(MemberReport(name, "", 0, (), ()) for name in layer.nodes)


def lines(layers: Sequence[LayerReport]) -> Iterator[Line]:
    """One row for every layer or chain, a chain's members behind it."""
    for leader, indices in chains(layers).items():
        group = tuple(layers[index] for index in indices)
        layer = layers[leader] if leader in indices else group[-1]
        yield Line(leader, layer, group)
        if len(group) > 1:
            for index in indices:
                yield Line(index, layer, group, layers[index])
        for member in members_of(layer):
            yield Line(leader, layer, group, member)
