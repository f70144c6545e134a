"""The tiler as an object: a solution that can be looked at, kept, changed by hand and checked before it is used.

A tiling solution says how every node is cut; a memory map where every buffer of every level lies. `Tiler` computes both
and takes both from outside; whoever made them, they pass the same checks.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.errors import UsageError
from tilewright.memory.placed import PlacedPlan
from tilewright.schedule.deployment import Deployment, tiled_as
from tilewright.schedule.moves import MOVES, allowed
from tilewright.schedule.search import best_of, finish
from tilewright.tiling.solution import TilingSolution, solution_of
from tilewright.tiling.tiled_graph import TiledGraph

MemoryMap = Mapping[str, Mapping[str, int]]
"""Offsets in bytes by level and buffer name, as `PlacedPlan.solution` names them."""


class Tiler:
    """Tiles one bound network. Make one, ask it, throw it away."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment

    def tiled(self) -> TiledGraph:
        """The graph with the schedules that the solver chose; DoesNotFit where there are none."""
        return self.deployment.question.cut(self.deployment.graph)

    def compute_tiling_schedule(self) -> TilingSolution:
        """How every node is cut; empty where nothing is."""
        return solution_of(self.tiled())

    def apply(self, solution: TilingSolution) -> TiledGraph:
        """The graph cut as a given solution says, every tile checked; UsageError where it says something impossible.

        Stacks lie where the deployment has them.
        """
        beside = self.deployment.decisions.stacks_beside
        return tiled_as(self.deployment.question, self.deployment.graph, solution, stacks_beside=beside)

    def compute_memory_map(self, tiled: TiledGraph) -> MemoryMap:
        """Offsets of all buffers of the home level, and of the pinned constants and tile buffers in the compute one."""
        late = [move for move in allowed(MOVES, self.deployment.question.request) if move.stage == "plan"]
        return memory_map_of(finish(best_of(self.deployment.with_tiles(tiled), late)).placed)


def memory_map_of(placed: PlacedPlan) -> MemoryMap:
    """Offsets by level; in the compute level, `<node>/<operand>` for every buffer of a schedule."""
    offsets: dict[str, dict[str, int]] = {placed.level: dict(placed.solution.offsets)}
    for instruction in placed.plan.instructions:
        if instruction.schedule is not None:
            compute = offsets.setdefault(instruction.schedule.compute_level, {})
            for stage in instruction.schedule.stages:
                compute |= {f"{stage.node}/{o.key}": o.offset for o in stage.operands if o.size}
    return offsets


def require_map(placed: PlacedPlan, memory_map: MemoryMap) -> None:
    """Refuse a map whose other levels are not those of the placed plan; UsageError."""
    for level, expected in memory_map_of(placed).items():
        if level != placed.level and dict(memory_map.get(level, {})) != dict(expected):
            raise UsageError(f"the memory map of '{level}' contradicts the tiling solution",
                             why="tile buffers lie where the schedules put them",
                             fix="take that part from compute_memory_map()")  # fmt: skip
