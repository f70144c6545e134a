"""Room for stacks: they take bytes of the home level, or of the compute level where that makes the network faster.

A core that keeps its stack in the compute level leaves less of it to tiles, and one whose stack lies further away is
slower in every kernel. A target says how many bytes its stacks take and how much slower kernels are without them; both
ways are tiled, and the faster one in the model is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.binding.graph import BoundGraph
from tilewright.errors import DoesNotFit
from tilewright.memory.placing import Placing
from tilewright.platform import MemoryLevel, Platform
from tilewright.schedule.tile import tile
from tilewright.target import StackRoom
from tilewright.tiling.hierarchy import hierarchy
from tilewright.tiling.options import works_of
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph


def tile_beside_stacks(
    graph: BoundGraph, levels: Sequence[MemoryLevel], room: StackRoom, options: TileOptions | None = None,
    placing: Placing | None = None,
) -> TiledGraph:  # fmt: skip
    """The graph tiled in what the stacks leave of each level, stacks in the compute level where that is faster.

    Raises DoesNotFit as `tile` does, for stacks outside of the compute level.
    """

    def cut(reserved: Mapping[str, int]) -> TiledGraph:
        return tile(graph, levels, reserved=reserved, options=options, placing=placing)

    whole = hierarchy(graph.platform, levels)
    if whole is None:
        return cut({})
    if room.level != whole.compute.name:
        return cut(reserved_for_stacks(graph.platform, levels, room, beside=False))
    try:
        beside = cut(reserved_for_stacks(graph.platform, levels, room, beside=True))
    except DoesNotFit:
        return cut(reserved_for_stacks(graph.platform, levels, room, beside=False))
    beside = replace(beside, stack_bytes=room.all_bytes)
    if _cycles(beside) * 100 <= _kernels_alone(graph) * (100 + room.slower_percent):
        return beside
    try:
        apart = cut(reserved_for_stacks(graph.platform, levels, room, beside=False))
    except DoesNotFit:
        return beside
    tiles = sum(schedule.tiles for schedule in apart.schedules.values())
    slowed = _cycles(apart) * (100 + room.slower_percent) + 100 * room.slower_cycles * tiles
    return beside if _cycles(beside) * 100 <= slowed else apart


def reserved_for_stacks(
    platform: Platform, levels: Sequence[MemoryLevel], room: StackRoom, *, beside: bool
) -> dict[str, int]:
    """Bytes of each level that stacks take: of the compute level where they lie `beside` the tiles, else of the home.

    A target whose stacks lie elsewhere keeps only those of its own core in the home level, and the program where that
    is known to take more.
    """
    whole = hierarchy(platform, levels)
    if whole is None:
        return {}
    if room.level != whole.compute.name:
        return {whole.home.name: room.program_bytes or room.own_bytes}
    if beside:
        return {room.level: room.all_bytes, whole.home.name: room.program_bytes}
    return {whole.home.name: room.all_bytes + room.program_bytes}


def _cycles(tiled: TiledGraph) -> int:
    """Modelled cycles of all that is cut."""
    return sum(schedule.cycles for schedule in tiled.schedules.values())


def _kernels_alone(graph: BoundGraph) -> int:
    """Cycles of all kernels that may be cut, each on all of its layer at once: no tiling needs fewer."""
    total = 0
    for work in works_of(graph).values():
        cycles = work.kernel.cycles(work.call, work.stage.extents)
        total += int(cycles) if cycles is not None else 0
    return total
