"""Tile schedules for a bound graph. On a platform whose operands lie in the compute level every node runs whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.binding.graph import BoundGraph
from tilewright.plan.plan import TiledGraph
from tilewright.platform import MemoryLevel


def tile(
    graph: BoundGraph, levels: Sequence[MemoryLevel] = (), *, reserved: Mapping[str, int] | None = None
) -> TiledGraph:
    """The graph with a schedule for every node that has to be cut; with one memory level none has.

    `levels` are the platform's levels with the target's sizes, `reserved` bytes of a level that are not ours (stacks).
    """
    return TiledGraph(graph, {})
