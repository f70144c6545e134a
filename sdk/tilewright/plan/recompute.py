"""Store or compute again: a result that is read early and late need not live in between.

An instruction can run a second time right before its late readers. It pays where the result would lie in memory at the
moment when most is needed and its operands, which are kept for it, are smaller or there anyway; the work is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.errors import UsageError
from tilewright.intervals import Span, changes
from tilewright.plan.check import check
from tilewright.plan.liveness import storages
from tilewright.plan.plan import ExecutionPlan, Instruction, Slot, view_root

PRICED = 300_000
"""Instructions of all plans together that are looked at for prices; a plan of a hundred is so priced 3,000 times."""


@dataclass(frozen=True)
class Recomputed:
    """The plan, what runs twice, live bytes before and after, and the work added.

    `repeated` are pairs of names: an instruction, and the one before which it runs again. `cut_off` where not all that
    it would have looked at was paid for.
    """

    plan: ExecutionPlan
    repeated: tuple[tuple[str, str], ...]
    live_before: int
    live_after: int
    added_cost: float
    cut_off: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The instructions that run twice."""
        return tuple(name for name, _ in self.repeated)


def live_bytes(plan: ExecutionPlan) -> int:
    """Most bytes alive at one moment, scratch counted."""
    return max(_alive(plan))


def _alive(plan: ExecutionPlan) -> list[int]:
    """Bytes alive at every instruction; storages that show the bytes of another one that is alive count once."""
    alive = [instruction.scratch_bytes for instruction in plan.instructions] or [0]
    spans = []
    for storage in storages(plan):
        home, start = storage.within or (storage.root, 0)
        spans.append(Span(home, start, start + storage.size_bytes, storage.first, storage.last + 1))
    change, total = changes(spans), 0
    for time in range(len(alive)):
        total += change.get(time, 0)
        alive[time] += total
    return alive


def kernel_cost(instruction: Instruction) -> float:
    """Instructions of one call as its kernel estimates them."""
    return instruction.kernel.cost(instruction.call)


def recompute_or_store(
    plan: ExecutionPlan, most_cost: float = float("inf"), cost: Callable[[Instruction], float] = kernel_cost
) -> Recomputed:
    """Compute again, one instruction after another, as long as that lowers the live bytes and stays within `most_cost`.

    Plans with tile schedules or sweeps are returned as they are: their order is fixed.
    """
    alive = _alive(plan)
    before = best = max(alive)
    repeated, added = list[tuple[str, str]](), 0.0
    left = _Left(PRICED)
    if plan.groups or any(i.schedule is not None or i.fused_into for i in plan.instructions):
        return Recomputed(plan, (), before, before, 0.0)
    while True:
        worst, readers = alive.index(best), _readers(plan)
        choices = []
        for instruction in _before(plan, worst, readers):
            late = _late_readers(plan, instruction, readers)
            if not late or late[0] <= worst:
                continue
            spent = cost(instruction)
            if added + spent <= most_cost and left.pay(plan):
                candidate = _again(plan, instruction, late)
                choices.append((live_bytes(candidate), spent, instruction.index, late[0], candidate))
        cheapest = min(choices, key=lambda choice: choice[:3], default=None)
        if cheapest is None or cheapest[0] >= best:
            return Recomputed(plan, tuple(repeated), before, best, added, left.refused)
        repeated.append((plan.instructions[cheapest[2]].name, plan.instructions[cheapest[3]].name))
        best, added, plan = cheapest[0], added + cheapest[1], cheapest[4]
        alive = _alive(plan)


def again(plan: ExecutionPlan, name: str, before: str) -> ExecutionPlan:
    """The plan in which instruction `name` runs once more right before `before`, for that and all later readers.

    UsageError where the plan has no such instructions, or where that would change what is computed.
    """
    at = {instruction.name: instruction for instruction in plan.instructions}
    if name in at and before in at:
        reading = _late_readers(plan, at[name], _readers(plan))
        if reading and reading[0] == at[before].index:
            return _again(plan, at[name], reading)
    raise UsageError(f"'{name}' cannot be computed again before '{before}'", why="they belong to another network")


@dataclass(frozen=True)
class _Uses:
    """The instructions that read each slot, in order, and the slots whose bytes must stay where they are.

    Those are outputs and states, and results that others show or alias a part of.
    """

    readers: Mapping[int, list[int]]
    stay: frozenset[int]


def _readers(plan: ExecutionPlan) -> _Uses:
    readers: dict[int, list[int]] = {}
    stay = {view_root(plan, slot) for slot in (*plan.output_slots, *(pair.source for pair in plan.state))}
    stay |= {view_root(plan, slot.index) for slot in plan.slots if slot.storage is not None}
    for instruction in plan.instructions:
        for slot in dict.fromkeys(slot for slot in instruction.inputs if slot >= 0):
            readers.setdefault(slot, []).append(instruction.index)
            if instruction.aliasing is not None:
                stay.add(slot)
    return _Uses(readers, frozenset(stay))


@dataclass
class _Left:
    """Work that is left for prices, counted in instructions of priced plans: the same on every machine."""

    instructions: int
    refused: bool = False

    def pay(self, plan: ExecutionPlan) -> bool:
        """Take the price of a plan; False where nothing is left."""
        paid = self.instructions > 0
        self.refused |= not paid
        self.instructions -= len(plan.instructions) * paid
        return paid


def _before(plan: ExecutionPlan, worst: int, uses: _Uses) -> list[Instruction]:
    """The instructions before the worst one whose results are read behind it, the largest results first."""
    earlier = []
    for instruction in plan.instructions[:worst]:
        late = _late_readers(plan, instruction, uses)
        if late and late[0] > worst:
            earlier.append(instruction)
    return sorted(earlier, key=lambda instruction: -plan.slots[instruction.outputs[0]].tensor.size_bytes)


def _late_readers(plan: ExecutionPlan, instruction: Instruction, uses: _Uses) -> tuple[int, ...]:
    """Readers behind the largest gap in the life of the result, where it may be computed again for them; else none.

    Results that others show a part of, outputs and states stay; operands are kept as long as that takes.
    """
    if len(instruction.outputs) != 1 or instruction.aliasing is not None or _asks(instruction):
        return ()
    (made,) = instruction.outputs
    reading = uses.readers.get(made, [])
    gaps = [(b - a, n + 1) for n, (a, b) in enumerate(zip([instruction.index, *reading], reading, strict=False))]
    if not gaps:
        return ()
    widest, position = max(gaps)
    late = reading[position - 1 :]
    return () if widest < 2 or position == 1 or made in uses.stay else tuple(late)


def _asks(instruction: Instruction) -> bool:
    """True for what asks the application for rows: it gives each of them once."""
    return any(call.node.op == "InputRows" for call in instruction.call.chain or (instruction.call,))


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
