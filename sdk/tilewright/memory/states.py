"""The memory of states: one after the other beside the arena, shared with nothing that is not the state itself."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.memory.placed import Region
from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.liveness import Storage
from tilewright.plan.plan import ExecutionPlan
from tilewright.sizes import align_up

STATE = "state"
"""The kind of storages that live from call to call."""


def place_states(plan: ExecutionPlan, groups: Sequence[Storage], align: int) -> tuple[dict[int, int], int]:
    """Bytes from the start of the states' memory by slot, and the bytes of that memory."""
    offsets, end = dict[int, int](), 0
    for group in groups:
        for member in group.members:
            offsets[member] = end + view_shift(plan, member)
        end += align_up(max(group.size_bytes, 1), align)
    return offsets, end


def state_regions(
    plan: ExecutionPlan, groups: Sequence[Storage], offsets: dict[int, int], arena_bytes: int, level: str
) -> tuple[Region, ...]:
    """The states as they are told: behind the arena, alive in every instruction."""
    return tuple(
        Region(
            plan.slots[g.root].tensor.name, level, arena_bytes + offsets[g.root], g.size_bytes, g.first, g.last, STATE
        )
        for g in groups
    )
