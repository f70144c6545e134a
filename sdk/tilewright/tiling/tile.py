"""Tile schedules for a bound graph. On a platform whose operands lie in the compute level every node runs whole.

Fronts per node and chain are enumerated exactly, one choice is made for the whole network, and every schedule is
checked before it is handed on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.binding.graph import BoundGraph
from tilewright.memory.planner import place_plan
from tilewright.plan.build import build
from tilewright.plan.liveness import storages
from tilewright.plan.plan import ExecutionPlan, TiledGraph
from tilewright.platform import MemoryLevel
from tilewright.tiling.check import check
from tilewright.tiling.choose import Choice, Live, Network, choose, roomy
from tilewright.tiling.expand import expand
from tilewright.tiling.explain import does_not_fit, home_does_not_fit
from tilewright.tiling.hierarchy import Hierarchy, align_up, hierarchy
from tilewright.tiling.options import Fronts, Option, constant_bytes, options_of, works_of
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.stages import Work
from tilewright.tiling.walk import Objective

PLACEMENTS = 4
"""Times that the network is asked anew, with less memory, where offsets need more than what is alive."""


@dataclass(frozen=True)
class TileOptions:
    """How to tile. `work_limit` is deterministic solver work; `pin` allows constants that stay in the compute level,
    `double` copies that run beside computing."""

    objective: Objective = "cycles"
    fuse: bool = True
    pin: bool = True
    double: bool = True
    work_limit: float = 20.0
    table_bytes_per_tile: int = 0

    @staticmethod
    def without(passes: Collection[str]) -> TileOptions:
        """The options of a command line that switches `tile_fusion`, `pinning` or `double_buffering` off."""
        return TileOptions(
            fuse="tile_fusion" not in passes, pin="pinning" not in passes, double="double_buffering" not in passes
        )


def tile(
    graph: BoundGraph,
    levels: Sequence[MemoryLevel] = (),
    *,
    reserved: Mapping[str, int] | None = None,
    options: TileOptions | None = None,
) -> TiledGraph:
    """The graph with a schedule for every node whose kernel can be cut; with one memory level none has.

    `levels` are the platform's levels with the target's sizes, `reserved` bytes of a level that are not ours (stacks).
    Raises DoesNotFit with the node, the rules that conflict and the smallest size that would do.
    """
    found = hierarchy(graph.platform, levels, reserved)
    if found is None:
        return TiledGraph(graph, {})
    asked = options or TileOptions()
    there = _asked_of(found, asked)
    works = works_of(graph)
    fronts = Fronts(there.capacity, asked.objective, 30 if len(works) <= 100 else 8)
    plan = build(TiledGraph(graph, {}), constants=False)
    empty = network_of(works, (), plan, there, asked.objective)
    tight = not roomy(empty)
    offered = options_of(graph, works, there, fronts, asked.fuse, asked.pin, tight)
    if any(len(o.names) == 1 and not o.pinned and not o.cuts for o in offered):
        raise does_not_fit(list(works.values()), there)
    network = network_of(works, offered, plan, there, asked.objective)
    for _ in range(PLACEMENTS if tight else 1):
        choice = choose(network, asked.work_limit)
        if choice is None:
            break
        tiled = tiled_graph(graph, works, there, choice)
        excess = _excess(tiled, empty.home_capacity) if tight else 0
        if excess <= 0:
            return tiled
        network = replace(network, home_capacity=network.home_capacity - excess)
    raise _too_small_at_home(network, plan)


def _excess(tiled: TiledGraph, capacity: int) -> int:
    """Bytes by which the placed buffers of the home level exceed it; what is alive at once says too little."""
    return place_plan(build(tiled), tiled.graph.platform).arena_bytes - capacity


def _asked_of(found: Hierarchy, asked: TileOptions) -> Hierarchy:
    """The hierarchy with tables counted, and with engines that stand still while the cores compute where asked."""
    if not asked.double:
        found = replace(
            found, load=replace(found.load, asynchronous=False), store=replace(found.store, asynchronous=False)
        )
    return replace(found, table_bytes_per_tile=asked.table_bytes_per_tile)


def network_of(
    works: Mapping[str, Work], offered: Sequence[Option], plan: ExecutionPlan, levels: Hierarchy,
    objective: Objective,
) -> Network:  # fmt: skip
    """What the solver is asked: options, lives in the home level, bytes of constants."""
    align = levels.home.align
    times = {instruction.name: instruction.index for instruction in plan.instructions}
    live = tuple(
        Live(plan.slots[s.root].tensor.name if len(s.members) == 1 else "", align_up(s.size_bytes, align), s.first,
             s.last)
        for s in storages(plan, in_place=False)
    )  # fmt: skip
    scratch = {i.index: align_up(i.scratch_bytes, align) for i in plan.instructions if i.name not in works}
    constants = {name: constant_bytes(work, align) for name, work in works.items()}
    at_home = levels.rest.name == levels.home.name
    capacity = levels.home_capacity - (sum(constants.values()) if at_home else 0)
    return Network(
        tuple(offered), times, live, scratch,
        {name: size for name, size in constants.items() if size}, levels, objective, max(0, capacity),
    )  # fmt: skip


def _too_small_at_home(network: Network, plan: ExecutionPlan) -> Exception:
    """The error that names the moment at which most is alive in the home level."""
    sums = {
        moment: sum(live.size_bytes for live in network.live if live.first <= moment <= live.last)
        + network.scratch.get(moment, 0)
        for moment in range(len(plan.instructions))
    }
    worst = max(sums, key=lambda moment: (sums[moment], -moment))
    name = plan.instructions[worst].name
    streamed = network.constants.get(name, 0) if network.levels.fetch is not None else 0
    alive = [
        f"{live.size_bytes} of '{live.tensor}'" for live in network.live
        if live.first <= worst <= live.last and live.tensor
    ]  # fmt: skip
    fixed = network.levels.home_capacity - network.home_capacity
    if fixed:
        alive.append(f"{fixed} of constants")
    return home_does_not_fit(network.levels, sums[worst] + streamed + fixed, name, ", ".join(alive) or "activations")


def tiled_graph(graph: BoundGraph, works: Mapping[str, Work], levels: Hierarchy, choice: Choice) -> TiledGraph:
    """Schedules with offsets: pinned constants first, the buffers of one schedule at a time behind them."""
    pinned, at = _pinned(works, levels, choice)
    schedules: dict[str, TileSchedule] = {}
    fused: dict[str, str] = {}
    homes = {name: levels.home.name for name in graph.layouts}
    homes_of_constants: dict[tuple[str, str], str] = {}
    for option, cut in choice.taken:
        names = option.names
        kept = {key: offset for (name, key), offset in pinned.items() if name == names[-1] and len(names) == 1}
        schedule = expand(option.subject, cut, at, kept)
        check(schedule, levels.capacity, levels.compute.align)
        schedules[names[-1]] = schedule
        fused |= dict.fromkeys(names[:-1], names[-1])
        for stage in schedule.stages[:-1]:
            local = stage.local()
            assert local is not None
            homes[local.tensor] = ""
        for stage in schedule.stages:
            for operand in stage.operands:
                if operand.kind == "constant" and operand.home != levels.rest.name:
                    homes_of_constants[stage.node, operand.name] = operand.home
    used = max((schedule.compute_bytes for schedule in schedules.values()), default=0)
    return TiledGraph(
        graph, schedules, fused, homes, homes_of_constants, choice.streamed, levels.home.name, at + used
    )  # fmt: skip


def _pinned(works: Mapping[str, Work], levels: Hierarchy, choice: Choice) -> tuple[dict[tuple[str, str], int], int]:
    """Offsets of pinned constants by (node, key), and where they end."""
    found: dict[tuple[str, str], int] = {}
    at = 0
    for name in sorted(choice.pinned, key=list(works).index):
        for operand in works[name].stage.operands:
            if operand.kind == "constant":
                found[name, operand.key] = at
                at += align_up(operand.bytes_of(tuple((0, size) for size in operand.shape)), levels.compute.align)
    return found, at
