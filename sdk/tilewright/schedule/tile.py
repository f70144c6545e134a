"""Tile schedules for a bound graph. On a platform whose operands lie in the compute level every node runs whole.

Fronts per node and chain are enumerated exactly, one choice is made for the whole network, and every schedule is
checked before it is handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tilewright.binding.graph import BoundGraph
from tilewright.memory.placing import Placing
from tilewright.plan.build import build
from tilewright.plan.liveness import storages
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import MemoryLevel
from tilewright.tiling.choose import Choice, Live, Network, choose, roomy
from tilewright.tiling.explain import does_not_fit, home_does_not_fit
from tilewright.tiling.hierarchy import UNLIMITED, Hierarchy, align_up, hierarchy
from tilewright.tiling.options import Fronts, Option, constant_bytes, options_of, works_of
from tilewright.tiling.scheduled import scheduled
from tilewright.tiling.seating import seated
from tilewright.tiling.stages import Work
from tilewright.tiling.switches import TileOptions, hierarchy_for
from tilewright.tiling.tiled_graph import TiledGraph
from tilewright.tiling.walk import Objective

PLACEMENTS = 4
"""Times that the network is asked anew, with less memory, where offsets need more than what is alive."""


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
    memory_levels = hierarchy_for(whole, options)
    works = works_of(graph)
    fronts = Fronts(memory_levels.capacity, options.objective, 30 if len(works) <= 100 else 8)
    plan = build(TiledGraph(graph, {}), constants=False)
    outside = placing.outside(plan)
    empty = network_of(works, (), plan, memory_levels, options.objective, outside)
    tight = not roomy(empty)
    offered = options_of(graph, works, memory_levels, fronts, options.fuse, options.pin, tight)
    if any(len(o.names) == 1 and not o.pinned and not o.cuts for o in offered):
        raise does_not_fit(list(works.values()), memory_levels)
    network = network_of(works, offered, plan, memory_levels, options.objective, outside)

    def tiled_for(choice: Choice) -> TiledGraph:
        return scheduled(graph, works, memory_levels, choice)

    if not tight:
        choice = choose(network, options.work_limit)
        assert choice is not None, "a home level with room for everything asks nothing of the tiles"
        return tiled_for(_seated(graph, works, network, choice, options))
    return _within_home(network, options.work_limit, tiled_for, placing, plan)


def _seated(
    graph: BoundGraph, works: Mapping[str, Work], network: Network, choice: Choice, options: TileOptions
) -> Choice:
    """The choice, or one in which neighbours are computed at one sitting where that takes fewer cycles in the model.

    A sitting has all of the compute level, so nothing is pinned beside it.
    """
    beside = network.levels.overlaps and network.levels.costs.turn > 0
    if not (beside and options.sit and options.objective == "cycles"):
        return choice
    free = choice
    if choice.pinned:
        offered = tuple(option for option in network.options if not option.pinned)
        unpinned = choose(replace(network, options=offered), options.work_limit)
        assert unpinned is not None, "constants need not be pinned"
        free = unpinned
    together = seated(graph, works, network.levels, free)
    return together if together.sittings and together.cycles < choice.cycles else choice


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
        alive.append(f"{network.levels.home_reserved} of stacks and code")
    needed = (least or sums[worst] + streamed) + constants + network.levels.home_reserved
    return home_does_not_fit(network.levels, needed, name, ", ".join(alive) or "activations")
