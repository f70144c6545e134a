"""Tile schedules for a bound graph. On a platform whose operands lie in the compute level every node runs whole.

Fronts per node and chain are enumerated exactly, one choice is made for the whole network, and every schedule is
checked before it is handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.binding.graph import BoundGraph
from tilewright.memory.placing import Placing
from tilewright.plan.build import build
from tilewright.plan.liveness import storages
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import MemoryLevel
from tilewright.tiling.check import check
from tilewright.tiling.choose import Choice, Live, Network, choose, roomy
from tilewright.tiling.expand import expand
from tilewright.tiling.explain import does_not_fit, home_does_not_fit
from tilewright.tiling.hierarchy import UNLIMITED, Hierarchy, align_up, hierarchy
from tilewright.tiling.options import Fronts, Option, constant_bytes, options_of, works_of
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.stages import Work
from tilewright.tiling.tiled_graph import TiledGraph
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
    placing: Placing | None = None,
) -> TiledGraph:
    """The graph with a schedule for every node whose kernel can be cut; with one memory level none has.

    `levels` are the platform's levels with the target's sizes, `reserved` bytes of a level that are not ours (stacks);
    `placing` says how the home level is placed. Raises DoesNotFit with the node, the rules that conflict and the
    smallest size that would do.
    """
    whole = hierarchy(graph.platform, levels, reserved)
    if whole is None:
        return TiledGraph(graph, {})
    options, placing = options or TileOptions(), placing or Placing(graph.platform)
    asked = asked_of(whole, options)
    works = works_of(graph)
    fronts = Fronts(asked.capacity, options.objective, 30 if len(works) <= 100 else 8)
    plan = build(TiledGraph(graph, {}), constants=False)
    outside = placing.outside(plan)
    empty = network_of(works, (), plan, asked, options.objective, outside)
    tight = not roomy(empty)
    offered = options_of(graph, works, asked, fronts, options.fuse, options.pin, tight)
    if any(len(o.names) == 1 and not o.pinned and not o.cuts for o in offered):
        raise does_not_fit(list(works.values()), asked)
    network = network_of(works, offered, plan, asked, options.objective, outside)

    def tiled_for(choice: Choice) -> TiledGraph:
        return tiled_graph(graph, works, asked, choice)

    if not tight:
        choice = choose(network, options.work_limit)
        assert choice is not None, "a home level with room for everything asks nothing of the tiles"
        return tiled_for(choice)
    return _within_home(network, options.work_limit, tiled_for, placing, plan)


def _within_home(
    network: Network, work_limit: float, tiled_for: Callable[[Choice], TiledGraph], placing: Placing,
    plan: ExecutionPlan,
) -> TiledGraph:  # fmt: skip
    """The best tiling whose placed buffers fit the home level.

    What is alive at once is neither what placed buffers take (there may be gaps) nor the least (results may lie over
    their operands), so a choice that asks nothing of the home level is placed first; where it does not fit, the solver
    is asked with what is there, and with less where that still is too much once placed.
    """
    capacity, limit, least = network.home_capacity, UNLIMITED, 0
    for _ in range(1 + PLACEMENTS):
        choice = choose(replace(network, home_capacity=limit), work_limit)
        if choice is None:
            break
        tiled = tiled_for(choice)
        needed = placing.place(build(tiled), "auto").arena_bytes
        if needed <= capacity:
            return tiled
        least = min(least or needed, needed)
        limit = capacity if limit == UNLIMITED else limit - (needed - capacity)
    raise _too_small_at_home(network, plan, least)


def asked_of(whole: Hierarchy, options: TileOptions) -> Hierarchy:
    """The hierarchy with tables counted, and with engines that stand still while the cores compute where asked."""
    if not options.double:
        whole = replace(
            whole, load=replace(whole.load, asynchronous=False), store=replace(whole.store, asynchronous=False)
        )
    return replace(whole, table_bytes_per_tile=options.table_bytes_per_tile)


def network_of(
    works: Mapping[str, Work], offered: Sequence[Option], plan: ExecutionPlan, levels: Hierarchy,
    objective: Objective, outside: frozenset[int] = frozenset(),
) -> Network:  # fmt: skip
    """What the solver is asked: options, lives in the home level, bytes of constants.

    `outside` are slots whose bytes are the caller's.
    """
    align = levels.home.align
    times = {instruction.name: instruction.index for instruction in plan.instructions}
    live = tuple(
        Live(plan.slots[s.root].tensor.name if len(s.members) == 1 else "", align_up(s.size_bytes, align), s.first,
             s.last)
        for s in storages(plan, in_place=False)
        if not outside.intersection(s.members)
    )  # fmt: skip
    scratch = {i.index: align_up(i.scratch_bytes, align) for i in plan.instructions if i.name not in works}
    constants = {name: constant_bytes(work, align) for name, work in works.items()}
    at_home = levels.rest.name == levels.home.name
    capacity = levels.home_capacity - (sum(constants.values()) if at_home else 0)
    return Network(
        tuple(offered), times, live, scratch,
        {name: size for name, size in constants.items() if size}, levels, objective, max(0, capacity),
    )  # fmt: skip


def _too_small_at_home(network: Network, plan: ExecutionPlan, least: int) -> Exception:
    """The error that names the moment at which most is alive in the home level.

    `least` bytes were the fewest of the placements that were tried, 0 where none was.
    """
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
    at_home = network.levels.rest.name == network.levels.home.name
    constants = sum(network.constants.values()) if at_home else 0
    if constants:
        alive.append(f"{constants} of constants")
    if network.levels.home_reserved:
        alive.append(f"{network.levels.home_reserved} of stacks")
    needed = (least or sums[worst] + streamed) + constants + network.levels.home_reserved
    return home_does_not_fit(network.levels, needed, name, ", ".join(alive) or "activations")


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
