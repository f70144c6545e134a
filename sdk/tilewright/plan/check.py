"""Checks a plan without the builder: every slot is written before it is read, and written once."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.errors import TilewrightError
from tilewright.plan.plan import ExecutionPlan


def check(plan: ExecutionPlan) -> None:
    """Raise where the plan reads an unwritten slot, writes one twice, or names one that does not exist."""
    written = {*plan.input_slots, *plan.state_slots}
    by_name = {slot.tensor.name: slot.index for slot in reversed(plan.slots)}
    views = {slot.index: slot.storage[0] for slot in plan.slots if slot.storage is not None}
    for slot, root in views.items():
        if not 0 <= root < len(plan.slots) or root >= slot:
            raise _bug(f"slot {slot} shows slot {root}, which does not stand before it")

    def ready(slot: int) -> bool:
        while slot in views:
            slot = views[slot]
        return slot in written

    for instruction in plan.instructions:
        where = f"instruction {instruction.index} ('{instruction.name}')"
        for slot in instruction.inputs:
            if slot >= len(plan.slots):
                raise _bug(f"{where} reads slot {slot}, the plan has {len(plan.slots)}")
            if slot >= 0 and not ready(slot):
                raise _bug(f"{where} reads slot {slot} before it is written")
        for slot in instruction.outputs:
            if slot in written or slot in views:
                raise _bug(f"{where} writes slot {slot}, which is written already")
            written.add(slot)
        inner = [by_name[t.name] for call in instruction.call.chain[:-1] for t in call.outputs if t.name in by_name]
        if inner:
            raise _bug(f"{where} keeps rows in scratch, but slot {min(inner)} holds the whole tensor")
        if any(not 0 <= f < len(plan.frozen_slots) for f in instruction.frozen):
            raise _bug(f"{where} names a frozen slot that does not exist")
    for slot in plan.output_slots:
        if not ready(slot):
            raise _bug(f"output slot {slot} is never written")
    _check_state(plan, ready)
    _check_groups(plan)


def _check_state(plan: ExecutionPlan, ready: Callable[[int], bool]) -> None:
    """Every state takes a value of its own type and shape that the run has made."""
    for pair in plan.state:
        if not 0 <= pair.source < len(plan.slots) or not 0 <= pair.state < len(plan.slots):
            raise _bug(f"state {pair.state} or its source {pair.source} does not exist")
        a, b = plan.slots[pair.state].tensor, plan.slots[pair.source].tensor
        if not ready(pair.source) or (a.dtype, a.shape) != (b.dtype, b.shape):
            raise _bug(f"state {pair.state} cannot take the value of slot {pair.source}")


def _check_groups(plan: ExecutionPlan) -> None:
    """Groups and sittings are ascending, apart, and inside of the plan."""
    for runs in (plan.groups, plan.sittings, plan.calls):
        end = 0
        for low, high in runs:
            if not end <= low < high <= len(plan.instructions):
                raise _bug(f"the group [{low}, {high}) overlaps another or leaves the plan")
            end = high


def _bug(what: str) -> TilewrightError:
    return TilewrightError(
        f"the execution plan is inconsistent: {what}", why="this is a bug in tilewright", fix="report it"
    )
