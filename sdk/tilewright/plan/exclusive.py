"""When the bytes of a result matter, where some instructions run for one outcome of a condition only.

A value that is read only where a condition holds matters at no instruction that runs only where it does not: what
never meets in one call may lie in the same bytes. So two branches of an If lie over each other, and what one turn of a
Loop leaves lies over what the turn before left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tilewright.binding.guards import Guard, contradict
from tilewright.plan.guards import Guards, choice_guards
from tilewright.plan.plan import ExecutionPlan, view_root

CALLER = -1
"""The moment at which inputs and states are written: before the first instruction."""


@dataclass(frozen=True)
class Use:
    """A reading of a value at a moment, in calls where all these guards hold."""

    moment: int
    guards: frozenset[Guard[int]]


@dataclass(frozen=True)
class Value:
    """What an own slot holds: the moment at which it is written, under which guards, and who reads it."""

    born: int
    guards: frozenset[Guard[int]]
    uses: tuple[Use, ...]

    def needed_behind(self, moment: int, guards: frozenset[Guard[int]]) -> bool:
        """True where a call in which these guards hold may read the value after a moment."""
        return any(use.moment > moment and not contradict(use.guards, guards) for use in self.uses)

    def needed(self, guards: Guards) -> frozenset[int]:
        """The moments at which the value matters; `guards` are those of the instructions."""
        if not self.uses:
            return frozenset({max(self.born, 0)})
        last, moments = max(use.moment for use in self.uses), set[int]()
        for moment in range(max(self.born, 0), last + 1):
            at = guards[moment] if moment < len(guards) else frozenset()
            if moment == self.born or any(u.moment >= moment and not contradict(u.guards, at) for u in self.uses):
                moments.add(moment)
        return frozenset(moments)


def values_of(plan: ExecutionPlan, guards: Guards) -> Mapping[int, Value]:
    """The value of every slot with bytes of its own; the moments of a sweep are all one."""
    sweeps = {index: (low, high - 1) for low, high in plan.groups for index in range(low, high)}
    born = {slot: (CALLER, frozenset[Guard[int]]()) for slot in (*plan.input_slots, *plan.state_slots)}
    uses: dict[int, list[Use]] = {}
    for instruction in plan.instructions:
        low, high = sweeps.get(instruction.index, (instruction.index,) * 2)
        own, choices = guards[instruction.index], choice_guards(plan, instruction)
        for slot in instruction.outputs:
            born[slot] = (low, own)
        for slot, choice in zip(instruction.inputs, choices, strict=True):
            if slot >= 0:
                under = own if choice is None else own | {choice}
                uses.setdefault(view_root(plan, slot), []).append(Use(high, under))
    for slot in (*plan.output_slots, *(pair.source for pair in plan.state)):
        uses.setdefault(view_root(plan, slot), []).append(Use(len(plan.instructions) - 1, frozenset()))
    return {
        slot: Value(moment, own, tuple(Use(u.moment, u.guards | own) for u in dict.fromkeys(uses.get(slot, ()))))
        for slot, (moment, own) in born.items()
        if view_root(plan, slot) == slot
    }


def pauses(needed: Iterable[frozenset[int]], first: int, last: int) -> tuple[tuple[int, int], ...]:
    """The runs of moments [low, high) within [first, last] at which none of several values matters."""
    taken = sorted({moment for moments in needed for moment in moments if first <= moment <= last})
    edges = zip((first - 1, *taken), (*taken, last + 1), strict=True)
    return tuple((before + 1, after) for before, after in edges if before + 1 < after)


def stretches(first: int, last: int, between: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The runs of moments [low, high) of a life in [first, last] without its pauses."""
    starts, ends = (first, *(high for _, high in between)), (*(low for low, _ in between), last + 1)
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low < high)
