"""Steps whose results only one outcome of a condition needs: the branches of an If, the turns of a Loop.

A Where with one condition for all elements takes one of two tensors. What nothing else needs is computed for nothing
where the other one is taken, so it is left out then. The result is the same for every condition, since steps have no
effect but on their results.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.binding.guards import Guard, Step, chooses, guards_of_steps
from tilewright.model import Array
from tilewright.plan.plan import ExecutionPlan, Instruction, view_root
from tilewright.platform import Feature, Platform

NAMED = 3
"""Instructions named one by one in a note."""

Guards = tuple[frozenset[Guard[int]], ...]
"""For every instruction the guards that must all hold; none where it always runs."""


def guards_of(plan: ExecutionPlan) -> Guards:
    """The guards of every instruction; those that are computed together, as one sweep or chain, have them together."""
    results = (*plan.output_slots, *(slot for pair in plan.state for slot in (pair.source, *pair.within)))
    units = _units(plan)
    steps = [_step(plan, unit) for unit in units]
    guards: list[frozenset[Guard[int]]] = [frozenset()] * len(plan.instructions)
    for unit, own in zip(units, guards_of_steps(steps, [view_root(plan, slot) for slot in results]), strict=True):
        for instruction in unit:
            guards[instruction.index] = own
    return tuple(guards)


def _units(plan: ExecutionPlan) -> list[tuple[Instruction, ...]]:
    """The instructions one by one, those of a call together."""
    units, at = list[tuple[Instruction, ...]](), 0
    for low, high in (*plan.calls, (len(plan.instructions),) * 2):
        units += [(instruction,) for instruction in plan.instructions[at:low]]
        if low < high:
            units.append(plan.instructions[low:high])
        at = high
    return units


def _step(plan: ExecutionPlan, unit: Sequence[Instruction]) -> Step[int]:
    """Instructions that run together; what only says where bytes lie is bound."""
    writes = tuple(view_root(plan, slot) for instruction in unit for slot in instruction.outputs)
    reads = tuple(
        (view_root(plan, slot), guard)
        for instruction in unit
        for slot, guard in zip(instruction.inputs, choice_guards(plan, instruction), strict=True)
        if slot >= 0 and view_root(plan, slot) not in writes
    )
    return Step(reads, writes, any(instruction.aliasing is not None for instruction in unit))


def choice_guards(plan: ExecutionPlan, instruction: Instruction) -> tuple[Guard[int] | None, ...]:
    """For every operand the condition under which its values are looked at, None where they always are."""
    if not chooses(instruction.call) or instruction.inputs[0] < 0:
        return (None,) * len(instruction.inputs)
    condition = view_root(plan, instruction.inputs[0])
    return tuple(Guard(condition, operand == 1) if operand else None for operand in range(len(instruction.inputs)))


def skipped(guards: Guards, values: Sequence[Array]) -> frozenset[int]:
    """The instructions that do not run where the slots hold these values."""
    return frozenset(
        index for index, own in enumerate(guards) if any(values[guard.slot].any() != guard.value for guard in own)
    )


def told_of_guards(plan: ExecutionPlan, platform: Platform) -> tuple[str, ...]:
    """A note where code of the platform runs in every call what only one outcome of a condition needs."""
    if platform.can(Feature.SKIPPING):
        return ()
    names = [f"'{one.name}'" for one, own in zip(plan.instructions, guards_of(plan), strict=True) if own]
    if not names:
        return ()
    more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return (
        f"platform '{platform.name}' leaves nothing out: layers that only one outcome of a condition needs run in"
        f" every call, {len(names)} here ({', '.join([*names[:NAMED], *more])})",
    )
