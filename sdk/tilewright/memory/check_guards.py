"""Checks a placed plan whose instructions do not all run, without lives: reading by reading, write by write.

A reading is right where its value has been written in every call that reads, and where each write into its bytes since
then asks of a condition what the reading, or the writing of the value, excludes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.binding.guards import Guard
from tilewright.errors import TilewrightError
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.guards import choice_guards, guards_of
from tilewright.plan.plan import ExecutionPlan, Instruction

Conditions = frozenset[Guard[int]]


@dataclass(frozen=True)
class _Write:
    """Bytes [low, high) of the arena that an instruction leaves; `value` names what lies there then."""

    at: int
    low: int
    high: int
    value: int
    guards: Conditions


def check_guards(placed: PlacedPlan) -> None:
    """Raise where a call, for some outcome of its conditions, would read bytes that hold another value."""
    plan, guards = placed.plan, guards_of(placed.plan)
    if not any(guards):
        return
    values = _values(plan)
    writes = [w for i in plan.instructions for w in _writes(placed, i, guards[i.index], values)]
    writer = {values[slot]: i.index for i in plan.instructions if i.aliasing is None for slot in i.outputs}
    end = len(plan.instructions)
    readings = [(i.index, slot, own) for i in plan.instructions for slot, own in _readings(plan, i, guards[i.index])]
    readings += [(end, slot, frozenset()) for slot in plan.output_slots]
    for moment, slot, own in readings:
        made, value = writer.get(values[slot], -1), values[slot]
        if made >= 0 and not guards[made] <= own:
            raise _bug(placed, slot, moment, "has not been written in every call that reads it")
        low = placed.slot_offsets.get(slot)
        if low is None:
            continue
        high = low + plan.slots[slot].tensor.size_bytes
        together = own | (guards[made] if made >= 0 else frozenset())
        for write in writes:
            if made < write.at < moment and write.value != value and write.low < high and low < write.high:
                if not any(Guard(guard.slot, not guard.value) in together for guard in write.guards):
                    over = plan.instructions[write.at].name
                    raise _bug(placed, slot, moment, f"has been overwritten by '{over}'")


def _readings(plan: ExecutionPlan, instruction: Instruction, own: Conditions) -> Iterator[tuple[int, Conditions]]:
    """The slots that an instruction and its guards read, each with the conditions of the calls that look at it."""
    yield from ((guard.slot, own - {guard}) for guard in own)
    for slot, choice in zip(instruction.inputs, choice_guards(plan, instruction), strict=True):
        if slot >= 0 and instruction.aliasing is None:
            yield slot, own if choice is None else own | {choice}


def _writes(placed: PlacedPlan, instruction: Instruction, own: Conditions, values: list[int]) -> Iterator[_Write]:
    """What an instruction leaves in the arena: results, and working memory that means nothing."""
    for slot in instruction.outputs:
        low = placed.slot_offsets.get(slot)
        if low is not None and not placed.plan.slots[slot].local:
            size_bytes = placed.plan.slots[slot].tensor.size_bytes
            yield _Write(instruction.index, low, low + size_bytes, values[slot], own)
    if instruction.scratch_bytes:
        low = placed.scratch_offsets[instruction.index]
        yield _Write(instruction.index, low, low + instruction.scratch_bytes, -1, own)


def _values(plan: ExecutionPlan) -> list[int]:
    """For every slot a number of its value: views, and what lies in one another's bytes by agreement, have one."""
    numbers = list(range(len(plan.slots)))

    def first(slot: int) -> int:
        while numbers[slot] != slot:
            slot = numbers[slot]
        return slot

    pairs = [(slot.index, slot.storage[0]) for slot in plan.slots if slot.storage is not None]
    for instruction in plan.instructions:
        for operand, result, _ in instruction.aliasing.pairs if instruction.aliasing is not None else ():
            pairs.append((instruction.inputs[operand], instruction.outputs[result]))
    for one, other in pairs:
        numbers[first(one)] = first(other)
    return [first(slot) for slot in range(len(numbers))]


def _bug(placed: PlacedPlan, slot: int, moment: int, what: str) -> TilewrightError:
    plan = placed.plan
    reader = f"'{plan.instructions[moment].name}'" if moment < len(plan.instructions) else "the caller"
    return TilewrightError(
        f"guards: '{plan.slots[slot].tensor.name}' {what} when {reader} reads it", why="this is a bug in tilewright",
        fix="report it; --without-pass in_place avoids it", tensor=plan.slots[slot].tensor.name,
    )  # fmt: skip
