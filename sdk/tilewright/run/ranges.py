"""From a placed plan to the fence: which bytes every plan instruction reads and writes, by tensor name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.codegen.pointers import caller_name
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.guards import guards_of
from tilewright.plan.plan import Instruction, caller_of
from tilewright.run.fence import FenceMap, FenceRange
from tilewright.run.glue import caller_memory
from tilewright.run.image import STATE

STATE_COPY = "the state of the next call"
"""What copies states behind the last instruction, as if it were one more."""


def fence_map(placed: PlacedPlan, shared: Mapping[int, str] | None = None) -> FenceMap:
    """Operands and constants may be read, results and scratch written too; all else is closed, states as well.

    `shared` are the symbols of constants, by frozen slot, of a network in a bundle.
    """
    plan = placed.plan
    ranges = [entry for instruction in plan.instructions for entry in _ranges(placed, instruction, shared or {})]
    for index, guards in enumerate(guards_of(plan)):
        ranges += [_slot_range(placed, index, guard.slot, False) for guard in sorted(guards)]
    for pair in plan.state:
        if not pair.in_place:
            ranges.append(_slot_range(placed, len(plan.instructions), pair.source, False))
            ranges.append(_slot_range(placed, len(plan.instructions), pair.state, True))
    return FenceMap(tuple(ranges), (*(instruction.name for instruction in plan.instructions), STATE_COPY))


def _ranges(placed: PlacedPlan, instruction: Instruction, shared: Mapping[int, str]) -> Iterator[FenceRange]:
    plan = placed.plan
    at = caller_of(plan, instruction).index
    for slots, writes in ((instruction.inputs, False), (instruction.outputs, True)):
        for slot in slots:
            if slot >= 0 and not plan.slots[slot].local:
                yield _slot_range(placed, at, slot, writes)
    for index in instruction.frozen:
        constant = plan.frozen_slots[index].constant
        size = constant.size_bytes
        if size:
            yield FenceRange(at, constant.name, 0, size, False, shared.get(index, f"{plan.name}_c{index}"))
    if instruction.scratch_bytes:
        offset = placed.scratch_offsets[instruction.index]
        yield FenceRange(at, "scratch", offset, instruction.scratch_bytes, True)


def _slot_range(placed: PlacedPlan, instruction: int, slot: int, writes: bool) -> FenceRange:
    tensor = placed.plan.slots[slot].tensor
    if slot in placed.state_offsets:
        return FenceRange(instruction, tensor.name, placed.state_offsets[slot], tensor.size_bytes, writes, STATE)
    if slot in placed.slot_offsets:
        return FenceRange(instruction, tensor.name, placed.slot_offsets[slot], tensor.size_bytes, writes)
    symbol = caller_memory(caller_name(placed, slot))
    return FenceRange(instruction, tensor.name, 0, tensor.size_bytes, writes, symbol)
