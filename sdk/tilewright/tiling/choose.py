"""The whole network at once: CP-SAT picks one option and one tiling per node, and where constants lie.

Every node is covered by one option. Pinned constants shrink the compute level for all nodes; what is alive in the home
level at each moment fits it, offsets are found afterwards. One worker and deterministic limits: the same network
gives the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.tiling.hierarchy import Hierarchy, whole_copy_cycles
from tilewright.tiling.options import Option
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.walk import BYTES_PER_CYCLE, Cut, Objective


@dataclass(frozen=True)
class Live:
    """Memory of the home level: bytes alive from instruction `first` to `last`; `inside` are chains that need none."""

    tensor: str
    size_bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Network:
    """What the solver is given. `times` maps node names to instructions; `constants` are bytes per node."""

    options: tuple[Option, ...]
    times: Mapping[str, int]
    live: tuple[Live, ...]
    scratch: Mapping[int, int]
    constants: Mapping[str, int]
    levels: Hierarchy
    objective: Objective = "cycles"
    home_capacity: int = 0


@dataclass(frozen=True)
class Choice:
    """The options taken, each with its tiling; `resident` and `streamed` are nodes by where their constants lie. What
    is computed at one sitting is in `sittings` and in no option.
    """

    taken: tuple[tuple[Option, Cut], ...]
    resident: frozenset[str] = frozenset()
    streamed: frozenset[str] = frozenset()
    cost: int = 0
    bound: int = 0
    proved: bool = True
    pinned: frozenset[str] = field(default_factory=frozenset)
    sittings: tuple[TileSchedule, ...] = ()

    @property
    def cycles(self) -> int:
        """Modelled cycles of everything that is cut."""
        return sum(cut.cycles for _, cut in self.taken) + sum(schedule.cycles for schedule in self.sittings)


def choose(network: Network, work_limit: float = 20.0) -> Choice | None:
    """The cheapest choice that fits every level; None where there is none. The limit is deterministic solver work."""
    return _obvious(network) or _solved(network, work_limit)


def _obvious(network: Network) -> Choice | None:
    """The best tiling of every node alone, where no other option could be better and the home level holds it all."""
    if any(len(option.names) > 1 or option.pinned for option in network.options):
        return None
    if not all(option.cuts for option in network.options):
        return None
    if not roomy(network):
        return None
    chosen = tuple((option, option.cuts[-1]) for option in network.options)
    cost = sum(cut.cost(network.objective) for _, cut in chosen)
    staged = frozenset(network.constants) if network.levels.fetch is not None else frozenset()
    return Choice(chosen, staged, frozenset(), cost, cost)


def peak(network: Network) -> int:
    """Most bytes alive at once in the home level, constants aside."""
    moments = {live.first for live in network.live} | {live.last for live in network.live} | set(network.scratch)
    return max((_alive(network, moment) for moment in moments), default=0)


def roomy(network: Network) -> bool:
    """True where the home level holds all that is ever alive, and all constants beside it."""
    constants = sum(network.constants.values()) if network.levels.fetch is not None else 0
    return peak(network) + constants <= network.home_capacity


def _alive(network: Network, moment: int) -> int:
    held = sum(live.size_bytes for live in network.live if live.first <= moment <= live.last)
    return held + network.scratch.get(moment, 0)


def _solved(network: Network, work_limit: float) -> Choice | None:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    points = [[model.new_bool_var("") for _ in option.cuts] for option in network.options]
    held = model.new_int_var(0, min(network.levels.capacity, 1 << 40), "pinned")
    covering: dict[str, list[tuple[Any, int]]] = {}
    pinned, cost = [], []
    for option, variables in zip(network.options, points, strict=True):
        for cut, point in zip(option.cuts, variables, strict=True):
            cost.append(cut.cost(network.objective) * point)
            pinned += [network.constants[name] * point for name in option.pinned]
            for name in option.names:
                covering.setdefault(name, []).append((point, cut.compute_bytes))
    model.add(held == sum(pinned))
    for points_of_node in covering.values():
        model.add_exactly_one([point for point, _ in points_of_node])
        model.add(sum(size * point for point, size in points_of_node) + held <= network.levels.capacity)
    resident = _home_level(network, model, points, cost)
    model.minimize(sum(cost))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = work_limit
    solver.parameters.relative_gap_limit = 1e-4
    _hint(network, model, points)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    taken = [
        (option, cut)
        for option, ps in zip(network.options, points, strict=True)
        for cut, p in zip(option.cuts, ps, strict=True)
        if solver.boolean_value(p)
    ]
    always = frozenset(n for option, _ in taken for n in option.pinned)
    resident_now = (
        frozenset(name for name, var in resident.items() if var is True or solver.boolean_value(var)) - always
    )
    away = frozenset(resident) - resident_now - always
    order = sorted(taken, key=lambda item: network.times[item[0].names[-1]])
    return Choice(
        tuple(order), resident_now, away, int(solver.objective_value), int(solver.best_objective_bound),
        status == cp_model.OPTIMAL, always,
    )  # fmt: skip


def _hint(network: Network, model: Any, points: Sequence[Sequence[Any]]) -> None:
    """Start from the best tiling of every node alone."""
    for option, variables in zip(network.options, points, strict=True):
        plain = len(option.names) == 1 and not option.pinned
        for place, variable in enumerate(variables):
            model.add_hint(variable, plain and place == len(variables) - 1)


def _home_level(network: Network, model: Any, points: Sequence[Sequence[Any]], cost: list[Any]) -> dict[str, Any]:
    """Capacity of the home level at every moment; returns per node whether its constants stay there."""
    fetch = network.levels.fetch
    if roomy(network):
        return dict.fromkeys(network.constants, True) if fetch is not None else {}
    resident: dict[str, Any] = {}
    pinned: dict[str, Any] = {}
    pins: dict[str, list[Any]] = {}
    for option, variables in zip(network.options, points, strict=True):
        for name in option.pinned:
            pins.setdefault(name, []).extend(variables)
    for name, size in network.constants.items():
        pinned[name] = sum(pins.get(name, []))
        if fetch is None:
            continue
        resident_var = model.new_bool_var(f"resident {name}")
        away = model.new_bool_var(f"streamed {name}")
        model.add(resident_var + away + pinned[name] == 1)
        resident[name] = resident_var
        wait = whole_copy_cycles(fetch, size)
        cost.append(wait * (BYTES_PER_CYCLE if network.objective == "cycles" else 1) * away)
    local = _local(network, points)
    staged = sum(size * resident[name] for name, size in network.constants.items() if name in resident)
    for moment in sorted({t for live in network.live for t in (live.first, live.last)} | set(network.times.values())):
        terms: list[Any] = [network.scratch.get(moment, 0)]
        for live in network.live:
            if live.first <= moment <= live.last:
                terms.append(live.size_bytes * (1 - sum(local.get(live.tensor, []))))
        for name, size in network.constants.items():
            if name in resident and moment == network.times[name]:
                terms.append(size * (1 - resident[name] - pinned[name]))
        model.add(sum(terms) + staged <= network.home_capacity)
    return resident


def _local(network: Network, points: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Per tensor the points that keep it inside a chain."""
    variables_of: dict[str, list[Any]] = {}
    for option, variables in zip(network.options, points, strict=True):
        for stage in option.subject.stages[:-1]:
            local = stage.local()
            if local is not None:
                variables_of.setdefault(local.tensor, []).extend(variables)
    return variables_of
