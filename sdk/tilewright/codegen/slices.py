"""A network that is run slice by slice: which steps of the plan one call takes."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.network_text import CallLine, Slice
from tilewright.memory.placed import PlacedPlan
from tilewright.ops.products import multiply_accumulates
from tilewright.plan.plan import Instruction

UNKNOWN = 8
"""Instructions for a product, or for an element of a result, of a kernel that declares no estimate."""


def slices_of(placed: PlacedPlan, lines: Sequence[CallLine], most: int) -> tuple[Slice, ...]:
    """As many steps a slice as `most` instructions allow, one at least; nothing where `most` is 0."""
    slices: list[Slice] = []
    for line in lines if most else ():
        cost = _estimated(placed.plan.instructions[line.index])
        last = slices[-1] if slices else None
        if last is not None and last.instructions + cost <= most:
            slices[-1] = Slice((*last.lines, line), last.instructions + cost)
        else:
            slices.append(Slice((line,), cost))
    return tuple(slices)


def _estimated(instruction: Instruction) -> int:
    declared = instruction.kernel.declared_cost(instruction.call)
    if declared is not None:
        return int(declared)
    elements = sum(tensor.elements for tensor in instruction.call.outputs)
    return UNKNOWN * max(elements, multiply_accumulates(instruction.call))
