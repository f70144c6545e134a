"""Equal constants of several nodes lie in one place; or each node has its own, where weights are told apart by node."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from tilewright.plan.plan import ExecutionPlan, FrozenSlot, Instruction

_LOOKED_AT = 64
"""Elements of a constant that are looked at before all are compared."""


@dataclass
class Constants:
    """The constants of a plan while it is built, equal ones once."""

    slots: list[FrozenSlot] = field(default_factory=list)
    _alike: dict[Hashable, list[FrozenSlot]] = field(default_factory=dict)

    def add(self, made: FrozenSlot) -> int:
        """The number of a slot with this constant: one that is there, or the new one, whose index is given anew.

        One that is copied to a level has a copy of its own there.
        """
        made = replace(made, index=len(self.slots))
        if not made.home:
            alike = self._alike.setdefault(_key(made), [])
            for slot in alike:
                if np.array_equal(slot.constant.values, made.constant.values):
                    return slot.index
            alike.append(made)
        self.slots.append(made)
        return made.index


def _key(slot: FrozenSlot) -> Hashable:
    """What equal constants have in common: their parameter's name, type, alignment, parts of tiles, some bytes."""
    constant = slot.constant
    some = constant.values.reshape(-1)[:: max(1, constant.values.size // _LOOKED_AT)]
    kind = (constant.name, constant.dtype, constant.align, constant.along, constant.level)
    return (*kind, constant.values.shape, constant.values.dtype.str, some.tobytes())


def with_own_constants(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan in which every node has constants of its own, so that those of one can be replaced."""
    slots, taken = list(plan.frozen_slots), set[int]()

    def own(instruction: Instruction) -> Instruction:
        place = dict[int, int]()
        for index in instruction.frozen:
            place[index] = index if index not in taken else len(slots)
            if place[index] == len(slots):
                slots.append(replace(plan.frozen_slots[index], index=len(slots), node=instruction.name))
        taken.update(instruction.frozen)
        aliasing = instruction.aliasing
        if aliasing is not None:
            copies = (
                copy if copy.frozen is None else replace(copy, frozen=place[copy.frozen]) for copy in aliasing.copies
            )
            aliasing = replace(aliasing, copies=tuple(copies))
        return replace(instruction, frozen=tuple(place[index] for index in instruction.frozen), aliasing=aliasing)

    instructions = tuple(map(own, plan.instructions))
    return replace(plan, instructions=instructions, frozen_slots=tuple(slots))
