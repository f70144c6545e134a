"""The tiler as an object: a solution that can be looked at, kept, changed by hand and checked before it is used.

`TilingSolution` says how every node is cut; `MemoryMap` where every buffer of every level lies. `Tiler` computes both
and takes both from outside; whoever made them, they pass the same checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.binding.graph import BoundGraph
from tilewright.errors import DoesNotFit, UsageError
from tilewright.memory.check import WrongPlacement
from tilewright.memory.check import check as check_placement
from tilewright.memory.placed import PlacedPlan, Region
from tilewright.memory.planner import copy_region, place_plan
from tilewright.memory.problem import PlacementSolution
from tilewright.plan.build import build
from tilewright.plan.check import check as check_plan
from tilewright.plan.plan import ExecutionPlan, TiledGraph
from tilewright.platform import MemoryLevel
from tilewright.tiling.choose import Choice
from tilewright.tiling.hierarchy import hierarchy
from tilewright.tiling.options import Option, constant_bytes, works_of
from tilewright.tiling.subject import Subject, subject_of
from tilewright.tiling.tile import TileOptions, tile, tiled_graph
from tilewright.tiling.walk import walk

MemoryMap = Mapping[str, Mapping[str, int]]
"""Offsets in bytes by level and buffer name, as `PlacedPlan.solution` names them."""


@dataclass(frozen=True)
class NodeTiling:
    """How a node or a fused chain is cut. Loops not in `sizes` are whole; `order` is outermost first.

    `constants` says where its constants are when it runs: `pinned` in the compute level, `resident` in the home level,
    or `streamed` into the home level before every run.
    """

    nodes: tuple[str, ...]
    sizes: Mapping[str, int]
    order: tuple[str, ...]
    double: bool
    constants: str = "resident"


TilingSolution = tuple[NodeTiling, ...]


class Tiler:
    """Tiles one bound graph for memories of given sizes. Make one, ask it, throw it away."""

    def __init__(
        self,
        graph: BoundGraph,
        levels: Sequence[MemoryLevel] = (),
        *,
        reserved: Mapping[str, int] | None = None,
        options: TileOptions | None = None,
    ) -> None:
        self.graph, self.levels, self.reserved, self.options = graph, tuple(levels), dict(reserved or {}), options

    def tiled(self) -> TiledGraph:
        """The graph with the schedules that the solver chose; DoesNotFit where there are none."""
        return tile(self.graph, self.levels, reserved=self.reserved, options=self.options)

    def compute_tiling_schedule(self) -> TilingSolution:
        """How every node is cut; empty where nothing is."""
        return solution_of(self.tiled())

    def apply(self, solution: TilingSolution) -> TiledGraph:
        """The graph cut as a given solution says, every tile checked; UsageError where it says something impossible."""
        return _applied(self.graph, self.levels, self.reserved, self.options or TileOptions(), solution)

    def compute_memory_map(self, tiled: TiledGraph, *, io: str = "arena", effort: float = 1.0) -> MemoryMap:
        """Offsets of all buffers of the home level, and of the pinned constants and tile buffers in the compute one."""
        plan = build(tiled)
        check_plan(plan)
        return memory_map_of(place_plan(plan, self.graph.platform, io=io, effort=effort))

    def place(self, plan: ExecutionPlan, memory_map: MemoryMap, *, io: str = "arena") -> PlacedPlan:
        """The plan with the offsets of a given map, checked; UsageError where buffers overlap or are missing."""
        placed = place_plan(plan, self.graph.platform, io=io)
        offsets = memory_map.get(placed.level, {})
        known = {buffer.name: buffer for buffer in placed.problem.buffers}
        try:
            peak = max((offsets[name] + buffer.size for name, buffer in known.items() if buffer.size), default=0)
        except KeyError as error:
            raise UsageError(
                f"the memory map has no offset for {error} in '{placed.level}'",
                why=f"the plan has the buffers {', '.join(known)}",
            ) from None
        solution = PlacementSolution(offsets, peak, placed.solution.lower_bound, "given", placed.solution.bound_by)
        try:
            check_placement(placed.problem, solution)
        except WrongPlacement as error:
            raise UsageError("the memory map is wrong", why=str(error), tensor=error.where.tensor) from error
        for level, expected in memory_map_of(placed).items():
            if level != placed.level and dict(memory_map.get(level, {})) != dict(expected):
                raise UsageError(f"the memory map of '{level}' contradicts the tiling solution",
                                 why="tile buffers lie where the schedules put them",
                                 fix="take that part from compute_memory_map()")  # fmt: skip
        return moved(placed, solution)


def solution_of(tiled: TiledGraph) -> TilingSolution:
    """What a tiled graph says about its nodes, in their order."""
    found = []
    for schedule in tiled.schedules.values():
        constants = [o for stage in schedule.stages for o in stage.operands if o.kind == "constant"]
        pinned = bool(constants) and all(o.home == schedule.compute_level for o in constants)
        streamed = any(name in tiled.streamed for name in schedule.nodes)
        where = "pinned" if pinned else "streamed" if streamed else "resident"
        sizes = {name: schedule.sizes[name] for name in schedule.order}
        found.append(NodeTiling(schedule.nodes, sizes, schedule.order, schedule.double, where))
    return tuple(found)


def memory_map_of(placed: PlacedPlan) -> MemoryMap:
    """Offsets by level; in the compute level, `<node>/<operand>` for every buffer of a schedule."""
    found: dict[str, dict[str, int]] = {placed.level: dict(placed.solution.offsets)}
    for instruction in placed.plan.instructions:
        if instruction.schedule is not None:
            compute = found.setdefault(instruction.schedule.compute_level, {})
            for stage in instruction.schedule.stages:
                compute |= {f"{stage.node}/{o.key}": o.offset for o in stage.operands if o.size}
    return found


def moved(placed: PlacedPlan, solution: PlacementSolution) -> PlacedPlan:
    """The placed plan with every buffer of its level where another solution of the same problem puts it."""
    before, after = placed.solution.offsets, solution.offsets
    shift = {name: after[name] - before[name] for name in before}
    roots = {member: f"slot{storage.root}" for storage in placed.storages for member in storage.members}
    align = placed.align
    return replace(
        placed,
        solution=solution,
        arena_bytes=-(-solution.peak // align) * align,
        slot_offsets={slot: offset + shift[roots[slot]] for slot, offset in placed.slot_offsets.items()},
        scratch_offsets={index: after[f"scratch{index}"] for index in placed.scratch_offsets},
        frozen_offsets={index: after[f"constant{index}"] for index in placed.frozen_offsets},
        regions=tuple(replace(region, offset=after[_buffer_of(placed, region)]) for region in placed.regions),
    )


def _buffer_of(placed: PlacedPlan, region: Region) -> str:
    """The buffer that a region of the report shows."""
    if region.kind == "scratch":
        return f"scratch{region.first}"
    if region.kind in ("constants", "copy_buffers"):
        return next(f"constant{f.index}" for f in placed.plan.frozen_slots if copy_region(f) == region.name)
    roots = {placed.plan.slots[storage.root].tensor.name: storage.root for storage in placed.storages}
    return f"slot{roots[region.name]}"


def _applied(
    graph: BoundGraph, levels: Sequence[MemoryLevel], reserved: Mapping[str, int], options: TileOptions,
    solution: TilingSolution,
) -> TiledGraph:  # fmt: skip
    found = hierarchy(graph.platform, levels, reserved)
    if found is None:
        if solution:
            raise UsageError(
                "a tiling solution was given", why=f"platform '{graph.platform.name}' has one memory level"
            )
        return TiledGraph(graph, {})
    there = replace(found, table_bytes_per_tile=options.table_bytes_per_tile)
    works = works_of(graph)
    _covered(solution, set(works))
    taken = []
    named: dict[str, set[str]] = {"pinned": set(), "resident": set(), "streamed": set()}
    for one in solution:
        if one.constants not in named:
            raise UsageError(
                f"constants of '{one.nodes[-1]}' are '{one.constants}'", fix="say pinned, resident or streamed"
            )
        named[one.constants] |= set(one.nodes)
        pinned = frozenset(one.nodes) if one.constants == "pinned" else frozenset()
        subject = subject_of([works[name] for name in one.nodes], there, pinned)
        if subject is None or (pinned and len(one.nodes) > 1):
            raise UsageError(f"{' + '.join(one.nodes)} cannot be one schedule", why="the tile of one does not follow "
                             "from that of the next, or pinned constants were asked for in a chain")  # fmt: skip
        _possible(subject, one)
        cut = walk(subject, one.sizes, one.order, one.double)
        held = sum(constant_bytes(works[name], there.compute.align) for name in named["pinned"])
        if cut.compute_bytes + held > there.capacity:
            level = there.compute.name
            raise DoesNotFit(
                f"the given tiles of '{' + '.join(one.nodes)}' do not fit {there.capacity} bytes of '{level}'",
                why=f"they take {cut.compute_bytes + held} bytes", fix="give smaller tiles", node=one.nodes[-1],
                smallest={level: cut.compute_bytes + held},
            )  # fmt: skip
        taken.append((Option(subject, (), pinned), cut))
    choice = Choice(tuple(taken), frozenset(named["resident"]),
                    frozenset(named["streamed"]) if there.fetch is not None else frozenset(),
                    pinned=frozenset(named["pinned"]))  # fmt: skip
    return tiled_graph(graph, works, there, choice)


def _covered(solution: TilingSolution, expected: set[str]) -> None:
    names = [name for one in solution for name in one.nodes]
    for name in names:
        if name not in expected:
            raise UsageError(
                f"the tiling solution cuts '{name}'", why="no kernel that can be cut has that node", node=name
            )
        if names.count(name) > 1:
            raise UsageError(f"the tiling solution cuts '{name}' twice", node=name)
    for name in sorted(expected - set(names)):
        raise UsageError(f"the tiling solution does not say how to cut '{name}'", node=name)


def _possible(subject: Subject, one: NodeTiling) -> None:
    """The sizes are of loops that may be cut, in multiples that the kernel takes, and tiles have no holes."""
    where = " + ".join(one.nodes)
    if set(one.order) != set(one.sizes) or len(set(one.order)) != len(one.order):
        raise UsageError(f"the order {list(one.order)} of '{where}' does not name the loops that are cut, once each")
    for loop, size in one.sizes.items():
        if loop not in subject.cuttable:
            raise UsageError(f"loop '{loop}' of '{where}' cannot be cut", why=f"{', '.join(subject.cuttable)} can")
        step = subject.multiples.get(loop, 1)
        if not 1 <= size < subject.extents[loop] or size % step:
            raise UsageError(f"tiles of {size} along '{loop}' of '{where}'",
                             why=f"they are multiples of {step} below {subject.extents[loop]}")  # fmt: skip
    for inner, outer in subject.digits:
        if inner in one.sizes and one.sizes.get(outer, subject.extents[outer]) != 1:
            raise UsageError(f"'{inner}' of '{where}' is cut while '{outer}' is not cut to single steps")
