"""Drops instructions whose results nothing reads, with their slots and constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tilewright.plan.check import check
from tilewright.plan.plan import ExecutionPlan, StatePair


@dataclass(frozen=True)
class Eliminated:
    """The plan without what is dead, and the names of the instructions that went."""

    plan: ExecutionPlan
    removed: tuple[str, ...]


def eliminate_dead(plan: ExecutionPlan) -> Eliminated:
    """Inputs stay, read or not; the same plan where everything is needed."""
    needed = {*plan.output_slots, *(pair.source for pair in plan.state)}
    needed_instructions: list[int] = []
    chains: set[str] = set()
    for instruction in reversed(plan.instructions):
        _with_roots(plan, needed)
        if needed.intersection(instruction.outputs) or (instruction.fused_into or instruction.errand_of) in chains:
            needed_instructions.append(instruction.index)
            chains.add(instruction.name)
            needed.update(slot for slot in instruction.inputs if slot >= 0)
    _with_roots(plan, needed)
    needed_instructions.reverse()
    if len(needed_instructions) == len(plan.instructions):
        return Eliminated(plan, ())
    removed = tuple(i.name for i in plan.instructions if i.index not in set(needed_instructions))
    return Eliminated(_compact(plan, needed_instructions, needed), removed)


def _with_roots(plan: ExecutionPlan, needed: set[int]) -> None:
    """What a needed view shows is needed."""
    for slot in reversed(plan.slots):
        if slot.index in needed and slot.storage is not None:
            needed.add(slot.storage[0])


def _compact(plan: ExecutionPlan, remaining: list[int], needed: set[int]) -> ExecutionPlan:
    instructions = [plan.instructions[index] for index in remaining]
    used = {*needed, *plan.input_slots, *plan.state_slots, *(s for i in instructions for s in i.outputs)}
    slots = _renumber(used)
    frozen = _renumber(f for i in instructions for f in i.frozen)
    times = {old: new for new, old in enumerate(remaining)}
    groups, sittings = (
        [tuple(times[i] for i in range(low, high) if i in times) for low, high in runs]
        for runs in (plan.groups, plan.sittings)
    )

    def slot(index: int) -> int:
        return slots[index] if index >= 0 else -1

    compact = replace(
        plan,
        instructions=tuple(
            replace(
                i,
                index=times[i.index],
                inputs=tuple(map(slot, i.inputs)),
                outputs=tuple(map(slot, i.outputs)),
                frozen=tuple(frozen[f] for f in i.frozen),
            )
            for i in instructions
        ),
        slots=tuple(
            replace(
                plan.slots[old],
                index=new,
                storage=None if (of := plan.slots[old].storage) is None else (slots[of[0]], of[1]),
            )
            for old, new in slots.items()
        ),
        frozen_slots=tuple(replace(plan.frozen_slots[old], index=new) for old, new in frozen.items()),
        input_slots=tuple(map(slot, plan.input_slots)),
        output_slots=tuple(map(slot, plan.output_slots)),
        state=tuple(StatePair(slot(pair.state), slot(pair.source)) for pair in plan.state),
        groups=tuple((group[0], group[-1] + 1) for group in groups if len(group) > 1),
        sittings=tuple((run[0], run[-1] + 1) for run in sittings if len(run) > 1),
    )
    check(compact)
    return compact


def _renumber(used: Iterable[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(sorted(set(used)))}
