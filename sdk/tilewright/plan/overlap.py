"""Results that may lie over an operand which dies at the same instruction, as far as their kernel proves it safe."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.liveness import Storage
from tilewright.plan.plan import ExecutionPlan


def overlaps(plan: ExecutionPlan, groups: Sequence[Storage]) -> tuple[tuple[Storage, Storage, int], ...]:
    """(dying operand, result, gap in bytes) for every pair that may share memory: result + gap <= operand."""
    home = {member: group for group in groups for member in group.members}
    overlaps = []
    for instruction in plan.instructions:
        for operand, result, gap in instruction.overlaps:
            x, y = instruction.inputs[operand], instruction.outputs[result]
            earlier, later = home.get(x), home.get(y)
            if x < 0 or earlier is None or later is None or earlier is later or later.root != y:
                continue
            readers = [s for s in instruction.inputs if s >= 0 and home.get(s) is earlier]
            if earlier.last != instruction.index or later.first != instruction.index or len(readers) != 1:
                continue
            if view_shift(plan, x) == 0:
                overlaps.append((earlier, later, gap))
    return tuple(overlaps)
