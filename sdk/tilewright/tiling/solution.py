"""How every node is cut, as a value that can be looked at, kept and changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.tiling.tiled_graph import TiledGraph


@dataclass(frozen=True)
class NodeTiling:
    """How a node or a fused chain is cut. Loops not in `sizes` are whole; `order` is outermost first. With `starts`
    the nodes are computed whole, at one sitting: beside which of them the copy of an operand starts, -1 before all.

    `constants` says where its constants are when it runs: `pinned` in the compute level, `resident` in the home level,
    or `streamed` into the home level before every run.
    """

    nodes: tuple[str, ...]
    sizes: Mapping[str, int]
    order: tuple[str, ...]
    double: bool
    constants: str = "resident"
    starts: Mapping[str, int] = field(default_factory=dict)


TilingSolution = tuple[NodeTiling, ...]


def solution_of(tiled: TiledGraph) -> TilingSolution:
    """What a tiled graph says about its nodes, in their order."""
    tilings = []
    for schedule in tiled.schedules.values():
        constants = [o for stage in schedule.stages for o in stage.operands if o.kind == "constant"]
        pinned = bool(constants) and all(o.home == schedule.compute_level for o in constants)
        streamed = any(name in tiled.streamed for name in schedule.nodes)
        where = "pinned" if pinned else "streamed" if streamed else "resident"
        sizes = {name: schedule.sizes[name] for name in schedule.order}
        tilings.append(NodeTiling(schedule.nodes, sizes, schedule.order, schedule.double, where, schedule.starts))
    return tuple(tilings)
