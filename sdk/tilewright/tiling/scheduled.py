"""What was chosen for every node, as schedules with offsets in the compute level."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.binding.graph import BoundGraph
from tilewright.tiling.check import check
from tilewright.tiling.choose import Choice
from tilewright.tiling.expand import expand
from tilewright.tiling.hierarchy import Hierarchy, align_up
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.stages import Work
from tilewright.tiling.tiled_graph import TiledGraph


def scheduled(graph: BoundGraph, works: Mapping[str, Work], levels: Hierarchy, choice: Choice) -> TiledGraph:
    """Schedules with offsets: pinned constants first, the buffers of one schedule at a time behind them."""
    pinned, at = _pinned(works, levels, choice)
    schedules: dict[str, TileSchedule] = {}
    fused: dict[str, str] = {}
    homes = {name: levels.home.name for name in graph.layouts}
    homes_of_constants: dict[tuple[str, str], str] = {}
    made = []
    for option, cut in choice.taken:
        names = option.names
        offsets = {key: offset for (name, key), offset in pinned.items() if name == names[-1] and len(names) == 1}
        made.append(expand(option.subject, cut, at, offsets))
    assert not (at and choice.sittings), "what stays in the compute level has no place beside a sitting"
    for schedule in (*made, *choice.sittings):
        check(schedule, levels.capacity, levels.compute.align)
        names = schedule.nodes
        schedules[names[-1]] = schedule
        fused |= dict.fromkeys(names[:-1], names[-1])
        for stage in schedule.stages:
            for operand in stage.operands:
                if operand.kind == "local" and operand.index < 0:
                    homes[operand.tensor] = ""
                if operand.kind == "constant" and operand.home != levels.rest.name:
                    homes_of_constants[stage.node, operand.name] = operand.home
    used = max((schedule.compute_bytes for schedule in schedules.values()), default=0)
    return TiledGraph(
        graph, schedules, fused, homes, homes_of_constants, choice.streamed, levels.home.name, at + used
    )  # fmt: skip


def _pinned(works: Mapping[str, Work], levels: Hierarchy, choice: Choice) -> tuple[dict[tuple[str, str], int], int]:
    """Offsets of pinned constants by (node, key), and where they end."""
    offsets: dict[tuple[str, str], int] = {}
    at = 0
    for name in sorted(choice.pinned, key=list(works).index):
        for operand in works[name].stage.operands:
            if operand.kind == "constant":
                offsets[name, operand.key] = at
                at += align_up(operand.bytes_of(tuple((0, size) for size in operand.shape)), levels.compute.align)
    return offsets, at
