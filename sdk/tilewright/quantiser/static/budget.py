"""`--budget`: types of each layer and tensor, chosen by a solver so that the network fits and loses least.

The noise that each change adds is measured with the integers of the target and taken as additive, so that the choice is
linear: bytes of weights, of activations at every node, cycles, noise. What is chosen is compiled and checked; what
that needs beyond the model of it is taken from the budget of another choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.errors import DoesNotFit, UsageError
from tilewright.quantiser.static.costs import CYCLES, Costs, costs_of, needs, report_of
from tilewright.quantiser.static.quantise import Basis, Types
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.sensitivity import Measure, by_activations, by_weights
from tilewright.quantiser.static.trial import decibels
from tilewright.sizes import parse_size
from tilewright.target import Target

UNIT = 1 << 20
"""Noise is counted in this part of that of 8 bits."""
ROUNDS = 4
POINTS = 6
NAMED = 3


@dataclass(frozen=True)
class Choosable:
    """What a solver chooses from: costs, and what each change does to the noise, in parts of that of 8 bits."""

    costs: Costs
    before: float
    narrow: Mapping[str, int]
    wide: Mapping[str, int]


@dataclass(frozen=True)
class Chosen:
    """Types, what they need by the model of the costs, and the noise over signal that is expected."""

    types: Types
    needs: Mapping[str, int]
    noise: float


@dataclass(frozen=True)
class Front:
    """Choices from the smallest to the most exact network that the budget allows, and the one that was taken."""

    points: tuple[Chosen, ...]
    taken: Chosen
    measured: Mapping[str, int]


def budget_of(texts: list[str]) -> dict[str, int]:
    """What `--budget ram=64K,cycles=10M` says; UsageError for what cannot be read."""
    budget = dict[str, int]()
    for pair in ",".join(texts).split(","):
        name, equals, value = pair.partition("=")
        size = _count(value) if name == CYCLES else parse_size(value)
        if name in budget:
            raise UsageError(f"--budget {pair}", why=f"{name} is given twice", fix="give each word once")
        if not (name and equals) or size is None:
            raise UsageError(f"--budget {pair}", why="there is no NAME=SIZE in it", fix="write ram=64K,cycles=10M")
        budget[name] = size
    return budget


def check_words(budget: Mapping[str, int], target: Target) -> None:
    """UsageError for a word that is neither a level of memory of the target nor its cycles."""
    known = (*target.memories, CYCLES)
    for name in budget:
        if name not in known:
            raise UsageError(
                f"--budget {name}", why=f"target '{target.name}' has no level of this name",
                fix="its words are " + ", ".join(known),
            )  # fmt: skip


def _count(text: str) -> int:
    factor = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isascii() or not digits.isdigit() or len(digits) > 12:
        raise UsageError(f"--budget cycles={text}", why="it is not a number of cycles", fix="write for example 10M")
    return int(digits) * factor


def within_budget(basis: Basis, samples: Samples, budget: Mapping[str, int], target: Target) -> Front:
    """The types with which the network fits the budget and loses least; DoesNotFit where none does."""
    costs = costs_of(basis, target)
    if chosen_for(Choosable(costs, 1.0, dict.fromkeys(costs.narrow, 1), dict.fromkeys(costs.wide, 0)), budget) is None:
        raise _too_small(basis, costs, budget)  # before what each change loses is measured, which takes far longer
    choosable = choosable_of(basis, samples, costs)
    limits = dict(budget)
    for _ in range(ROUNDS):
        chosen = chosen_for(choosable, limits)
        if chosen is None:
            break
        measured = needs(report_of(basis, chosen.types, target))
        over = {name: measured[name] - budget[name] for name in budget if measured[name] > budget[name]}
        if not over:
            return Front(_front(choosable, budget, chosen), chosen, measured)
        limits = {name: limit - over.get(name, 0) for name, limit in limits.items()}
    raise _too_small(basis, costs, budget)


def choosable_of(basis: Basis, samples: Samples, costs: Costs) -> Choosable:
    """Measure every change by itself."""
    measure = Measure(basis, samples)
    before = max(measure.before, 1e-20)

    def parts(noise: float) -> int:
        return round((noise / before - 1) * UNIT)

    narrow = {one.name: max(parts(one.noise), 1) for one in by_weights(measure)}
    wide = {one.name: parts(one.noise) for one in by_activations(measure) if one.noise < before}
    return Choosable(costs, before, narrow, wide)


def chosen_for(choosable: Choosable, limits: Mapping[str, int]) -> Chosen | None:
    """The choice of least noise within the limits; None where there is none. Without a limit for cycles none has 16
    bits: they cost time, and nothing would say how much of it."""
    from ortools.sat.python import cp_model

    model: Any = cp_model.CpModel()
    narrow = {name: model.new_bool_var(f"narrow {number}") for number, name in enumerate(choosable.narrow)}
    usable = choosable.wide if CYCLES in limits else {}
    wide = {name: model.new_bool_var(f"wide {number}") for number, name in enumerate(usable)}
    costs, unpacks = choosable.costs, model.new_bool_var("unpacks")
    for variable in narrow.values():
        model.add_implication(variable, unpacks)
    for name, limit in limits.items():
        added = sum(costs.narrow[one].get(name, 0) * variable for one, variable in narrow.items())
        added += sum(costs.wide[one].get(name, 0) * variable for one, variable in wide.items())
        added += costs.unpacking * unpacks if name == costs.store else 0
        if name != costs.home:
            model.add(costs.base[name] + added <= limit)
            continue
        for sizes in costs.live:
            more = sum(sizes[one] * wide[one] for one in sizes if one in wide)
            model.add(costs.others + sum(sizes.values()) + more + added <= limit)
    noise = sum(choosable.narrow[one] * variable for one, variable in narrow.items())
    noise += sum(choosable.wide[one] * variable for one, variable in wide.items())
    model.minimize(noise)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, 0
    solver.parameters.max_deterministic_time = 10.0
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    types = Types(
        frozenset(one for one, variable in wide.items() if solver.value(variable)),
        frozenset(one for one, variable in narrow.items() if solver.value(variable)),
    )
    parts = max(UNIT + round(solver.objective_value), 1)
    return Chosen(types, _needs(costs, types), choosable.before * parts / UNIT)


def _needs(costs: Costs, types: Types) -> dict[str, int]:
    needed = dict(costs.base)
    needed[costs.store] += costs.unpacking if types.narrow else 0
    for changes, names in ((costs.narrow, types.narrow), (costs.wide, types.wide)):
        for one in names:
            for name, added in changes[one].items():
                needed[name] += added
    most = max(
        (sum(size * (1 + (one in types.wide)) for one, size in moment.items()) for moment in costs.live), default=0
    )
    plain = max((sum(moment.values()) for moment in costs.live), default=0)
    needed[costs.home] += most - plain
    return needed


def _front(choosable: Choosable, budget: Mapping[str, int], taken: Chosen) -> tuple[Chosen, ...]:
    """Choices between all weights of 4 bits and the one taken, by the bytes of weights."""
    store, costs = choosable.costs.store, choosable.costs
    least = costs.base[store] + costs.unpacking + sum(one[store] for one in costs.narrow.values())
    most = taken.needs[store]
    points = dict[int, Chosen]()
    for step in range(POINTS):
        point = chosen_for(choosable, {**budget, store: least + (most - least) * step // (POINTS - 1)})
        if point is not None:
            points.setdefault(point.needs[store], point)
    points.setdefault(most, taken)
    return tuple(points[key] for key in sorted(points))


def _too_small(basis: Basis, costs: Costs, budget: Mapping[str, int]) -> DoesNotFit:
    """The error, with what the smallest network needs and which layers need most of it."""
    least = {name: min(costs.base[name], costs.smallest[name]) for name in costs.base}
    short = [name for name, limit in budget.items() if least[name] > limit] or list(budget)
    needed = ", ".join(f"{name} needs {least[name]:,}" for name in short)
    return DoesNotFit(
        "no types of layers fit the budget",
        why="; ".join([f"{needed} with weights of 4 bits", *_largest(basis, costs, short)]),
        fix="allow more, or take a smaller network",
        smallest={name: least[name] for name in budget if name != CYCLES},
    )


def _largest(basis: Basis, costs: Costs, short: Sequence[str]) -> Iterator[str]:
    """What needs most of each word that is short."""
    tensors = basis.model.tensors
    if costs.store in short:
        bytes_of = {one.node: tensors[one.weights].elements // 2 for one in basis.points.weighted}
        yield f"most of {costs.store} is {_named(bytes_of, ' B of weights in 4 bits')}"
    if costs.home in short:
        moment = max(costs.live, key=lambda sizes: sum(sizes.values()), default={})
        yield f"at the fullest moment {costs.home} holds {_named(moment, ' B')}"
    if CYCLES in short:
        yield f"most cycles are of {_named(costs.layers, '')}"


def _named(sizes: Mapping[str, int], unit: str) -> str:
    """The largest by name."""
    largest = sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:NAMED]
    return ", ".join(f"'{name}' {size:,}{unit}" for name, size in largest)


def is_taken(front: Front, point: Chosen) -> bool:
    """True for the choice that was taken."""
    return point.types == front.taken.types


def front_rows(front: Front) -> list[tuple[str, ...]]:
    """Rows of a table: what each choice needs and the signal to noise that is expected of it."""
    rows = []
    for point in front.points:
        mark = "taken" if is_taken(front, point) else ""
        sizes = (f"{value:,}" for value in point.needs.values())
        types = (str(len(point.types.narrow)), str(len(point.types.wide)))
        rows.append((*sizes, *types, f"{decibels(point.noise):.1f} dB", mark))
    return rows
