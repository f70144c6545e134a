"""Store or compute again: a result that is read early and late need not live in between.

An instruction whose operands are there anyway can run a second time right before its late readers. It pays where the
result would lie in memory at the moment when most is needed; the work it costs is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.plan.check import check
from tilewright.plan.layout import view_root
from tilewright.plan.liveness import storages
from tilewright.plan.plan import ExecutionPlan, Instruction, Slot


@dataclass(frozen=True)
class Recomputed:
    """The plan, the names of the instructions that run twice, live bytes before and after, and the work added."""

    plan: ExecutionPlan
    names: tuple[str, ...]
    live_before: int
    live_after: int
    added_cost: float


def live_bytes(plan: ExecutionPlan) -> int:
    """Most bytes alive at one moment, scratch counted."""
    alive = [instruction.scratch_bytes for instruction in plan.instructions] or [0]
    for storage in storages(plan):
        for time in range(storage.first, min(storage.last, len(alive) - 1) + 1):
            alive[time] += storage.size_bytes
    return max(alive)


def recompute_or_store(plan: ExecutionPlan, most_cost: float = float("inf")) -> Recomputed:
    """Compute again, one instruction after another, as long as that lowers the live bytes and stays within `most_cost`.

    Plans with tile schedules or sweeps are returned as they are: their order is fixed.
    """
    before = best = live_bytes(plan)
    names, added = list[str](), 0.0
    if plan.groups or any(i.schedule is not None or i.fused_into for i in plan.instructions):
        return Recomputed(plan, (), before, before, 0.0)
    while True:
        choices = []
        for instruction in plan.instructions:
            cost = instruction.kernel.cost(instruction.call)
            late = _late_readers(plan, instruction)
            if late and added + cost <= most_cost:
                candidate = _again(plan, instruction, late)
                choices.append((live_bytes(candidate), cost, instruction.index, candidate))
        found = min(choices, key=lambda choice: choice[:3], default=None)
        if found is None or found[0] >= best:
            return Recomputed(plan, tuple(names), before, best, added)
        names.append(plan.instructions[found[2]].name)
        best, added, plan = found[0], added + found[1], found[3]


def _late_readers(plan: ExecutionPlan, instruction: Instruction) -> tuple[int, ...]:
    """Readers behind the largest gap in the life of the result, where its operands can still be read; else none.

    Operands last if they are inputs of the network or are themselves read at that time or later.
    """
    if len(instruction.outputs) != 1 or instruction.outputs[0] in {view_root(plan, s) for s in plan.output_slots}:
        return ()
    (made,) = instruction.outputs
    if any(made == view_root(plan, pair.source) for pair in plan.state):
        return ()
    if any(slot.storage is not None and view_root(plan, slot.index) == made for slot in plan.slots):
        return ()
    readers = [i.index for i in plan.instructions if made in i.inputs]
    gaps = [(b - a, n + 1) for n, (a, b) in enumerate(zip([instruction.index, *readers], readers, strict=False))]
    if not gaps:
        return ()
    widest, position = max(gaps)
    late = readers[position - 1 :]
    if widest < 2 or position == 1:
        return ()
    return tuple(late) if all(_lasts(plan, slot, late[0]) for slot in instruction.inputs if slot >= 0) else ()


def _lasts(plan: ExecutionPlan, slot: int, time: int) -> bool:
    root = view_root(plan, slot)
    readers = [i.index for i in plan.instructions if any(s >= 0 and view_root(plan, s) == root for s in i.inputs)]
    outputs = {view_root(plan, s) for s in plan.output_slots}
    return root in outputs or root in plan.input_slots or max(readers) >= time


def _again(plan: ExecutionPlan, instruction: Instruction, late: Sequence[int]) -> ExecutionPlan:
    """The plan in which the instruction runs once more before the first of its late readers."""
    (made,) = instruction.outputs
    new = len(plan.slots)
    tensor = replace(plan.slots[made].tensor, name=f"{plan.slots[made].tensor.name}_again{new}")
    node = replace(instruction.call.node, name=f"{instruction.name}_again{new}", outputs=(tensor.name,))
    twin = replace(instruction, call=replace(instruction.call, node=node, outputs=(tensor,)), outputs=(new,))
    order: list[Instruction] = []
    for each in plan.instructions:
        if each.index == late[0]:
            order.append(twin)
        order.append(_reading(each, made, new, tensor.name) if each.index in late else each)
    changed = replace(
        plan,
        instructions=tuple(replace(each, index=index) for index, each in enumerate(order)),
        slots=(*plan.slots, Slot(new, tensor, plan.slots[made].layout)),
    )
    check(changed)
    return changed


def _reading(instruction: Instruction, old: int, new: int, name: str) -> Instruction:
    """The instruction with the new slot and tensor in the place of the old."""
    places = [index for index, slot in enumerate(instruction.inputs) if slot == old]
    call = instruction.call
    inputs = tuple(
        replace(tensor, name=name) if tensor is not None and index in places else tensor
        for index, tensor in enumerate(call.inputs)
    )
    names = tuple(name if index in places else given for index, given in enumerate(call.node.inputs))
    call = replace(call, node=replace(call.node, inputs=names), inputs=inputs)
    return replace(instruction, call=call, inputs=tuple(new if s == old else s for s in instruction.inputs))
