"""Steps whose results only one outcome of a condition needs: the branches of an If, the turns of a Loop.

A Where with one condition for all elements takes one of two tensors. What nothing else needs is computed for nothing
where the other one is taken, so it is left out then. The result is the same for every condition, since steps have no
effect but on their results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.plan.plan import ExecutionPlan, Instruction, view_root

Key = TypeVar("Key", int, str)
"""What names a tensor: the slot that its bytes are in, or its name."""


@dataclass(frozen=True, order=True)
class Guard(Generic[Key]):
    """A step is needed only where the one element of the tensor is `value`."""

    slot: Key
    value: bool


@dataclass(frozen=True)
class Step(Generic[Key]):
    """What a step reads, each with the guard under which it is looked at, and what it writes.

    One that is `bound` to others runs always.
    """

    reads: tuple[tuple[Key, Guard[Key] | None], ...]
    writes: tuple[Key, ...]
    bound: bool = False


Guards = tuple[frozenset[Guard[int]], ...]
"""For every instruction the guards that must all hold; none where it always runs."""


def guards_of_steps(steps: Sequence[Step[Key]], results: Iterable[Key]) -> tuple[frozenset[Guard[Key]], ...]:
    """The guards of every step: what all readers of its results have in common, and is known when it runs.

    `results` are tensors that are needed behind the last step.
    """
    nothing = frozenset[Guard[Key]]()
    needed = dict.fromkeys(results, nothing)
    made = {name: at for at, step in enumerate(steps) for name in step.writes}
    guards = list[frozenset[Guard[Key]]]()
    for at, step in reversed(list(enumerate(steps))):
        uses = [needed[name] for name in step.writes if name in needed]
        common = uses[0].intersection(*uses[1:]) if uses and not step.bound else nothing
        own = frozenset(guard for guard in common if made.get(guard.slot, -1) < at)
        guards.append(own)
        for name, guard in step.reads:
            use = own if guard is None else own | {guard}
            needed[name] = needed[name] & use if name in needed else use
    return tuple(reversed(guards))


def guards_of(plan: ExecutionPlan) -> Guards:
    """The guards of every instruction; none in plans that copy tiles, or constants, ahead of their use."""
    if any(i.schedule is not None for i in plan.instructions) or any(slot.home for slot in plan.frozen_slots):
        return (frozenset[Guard[int]](),) * len(plan.instructions)
    results = (*plan.output_slots, *(slot for pair in plan.state for slot in (pair.source, *pair.within)))
    swept = {index for low, high in plan.groups for index in range(low, high)}
    steps = [_step(plan, instruction, instruction.index in swept) for instruction in plan.instructions]
    return guards_of_steps(steps, [view_root(plan, slot) for slot in results])


def _step(plan: ExecutionPlan, instruction: Instruction, swept: bool) -> Step[int]:
    """An instruction; one of a sweep, and one that only says where bytes lie, is bound."""
    roots = [view_root(plan, slot) if slot >= 0 else -1 for slot in instruction.inputs]
    reads = [
        (root, Guard(roots[0], operand == 1) if operand and roots[0] >= 0 and _chooses(instruction.call) else None)
        for operand, root in enumerate(roots)
        if root >= 0
    ]
    writes = tuple(view_root(plan, slot) for slot in instruction.outputs)
    return Step(tuple(reads), writes, swept or instruction.aliasing is not None)


def _chooses(call: Call) -> bool:
    """True where operand 0 is one condition that says which of the other two is the result."""
    return call.node.op == "Where" and not call.node.domain and not call.chain and call.tensor(0).elements == 1


def skipped(guards: Guards, values: Sequence[Array]) -> frozenset[int]:
    """The instructions that do not run where the slots hold these values."""
    return frozenset(
        index for index, own in enumerate(guards) if any(values[guard.slot].any() != guard.value for guard in own)
    )
