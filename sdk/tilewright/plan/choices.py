"""Both operands of a choice in the bytes of its result, where no call writes one of them while it needs the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.binding.guards import chooses, contradict
from tilewright.plan.exclusive import values_of
from tilewright.plan.guards import Guards
from tilewright.plan.plan import ExecutionPlan, Instruction, view_root

Groups = Mapping[int, Sequence[int]]
"""Slots that share their bytes, by the first of them."""


class Choices:
    """Which storages may become one for a choice; `guards` are those under which the instructions run."""

    def __init__(self, plan: ExecutionPlan, guards: Guards) -> None:
        self.plan = plan
        self.values = values_of(plan, guards)
        self.choices = tuple(i for i in plan.instructions if i.aliasing is None and chooses(i.call))

    def free(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """True where slots of two storages, which lie in one place then, never meet in one call."""
        return self._unharmed(one, other) and self._unharmed(other, one)

    def _unharmed(self, written: Sequence[int], others: Sequence[int]) -> bool:
        return all(self._leaves((w, k)) for w in written for k in others if w in self.values and k in self.values)

    def _leaves(self, slots: tuple[int, int]) -> bool:
        """True where writing the value of one slot takes nothing of another's that is still read in the same call."""
        new, old = (self.values[slot] for slot in slots)
        if old.born > new.born:
            return True
        if old.born == new.born:
            return contradict(old.guards, new.guards)
        if old.needed_behind(new.born, new.guards):
            return False
        read_now = any(use.moment == new.born and not contradict(use.guards, new.guards) for use in old.uses)
        return not read_now or self._in_place(self.plan.instructions[new.born], slots[1], slots[0])

    def _in_place(self, instruction: Instruction, source: int, target: int) -> bool:
        """True where the kernel promises to read every element of an operand before it writes there."""
        if instruction.aliasing is not None or target not in instruction.outputs:
            return False
        pairs, result = instruction.kernel.in_place(instruction.call), instruction.outputs.index(target)
        new = self.plan.slots[target]
        readings = [
            (operand, slot)
            for operand, slot in enumerate(instruction.inputs)
            if slot >= 0 and view_root(self.plan, slot) == source
        ]
        alike = all(
            slot == source and self.plan.slots[slot].tensor.size_bytes == new.tensor.size_bytes
            and self.plan.slots[slot].layout == new.layout
            for _, slot in readings
        )  # fmt: skip
        untiled = instruction.schedule is None and not instruction.fused_into
        return untiled and alike and all((operand, result) in pairs for operand, _ in readings)
