"""A choice between two tensors of which one, or both, lie where its result lies: what is left to be done."""

from __future__ import annotations

from tilewright.binding.guards import Guard
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.guards import choice_guards
from tilewright.plan.plan import Instruction


def left_to_do(placed: PlacedPlan, instruction: Instruction) -> frozenset[Guard[int]] | None:
    """The guards under which a choice has something to move; none where it always has, None where it never has."""
    guards = choice_guards(placed.plan, instruction)
    alone = instruction.schedule is None or len(instruction.schedule.stages) == 1
    if instruction.fused_into or not alone or instruction.aliasing is not None or not any(guards):
        return frozenset()
    at = placed.slot_offsets.get(instruction.outputs[0])
    in_place = [
        guard
        for slot, guard in zip(instruction.inputs, guards, strict=True)
        if guard is not None and slot >= 0 and at is not None and placed.slot_offsets.get(slot) == at
    ]
    if len(in_place) == 2:
        return None
    return frozenset(Guard(guard.slot, not guard.value) for guard in in_place)
