"""What the generated C asks of its compiler beyond C99's least: checked by `#if`, so that no other machine is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.codegen.code_counts import FunctionCounts
from tilewright.memory.placed import PlacedPlan
from tilewright.model import DType

LEAST_INT = (1 << 15) - 1
"""INT_MAX that C99 grants."""
BEYOND = 2
"""Loops, and indices where windows reach into padding, stay below so many times the bytes of the largest array."""


@dataclass(frozen=True)
class Limits:
    """`largest_int`: what an `int` must hold, 0 where every C99 one does. `wide_double`: a `double` of 53 bits."""

    largest_int: int = 0
    wide_double: bool = False

    def __bool__(self) -> bool:
        """True if a core with an `int` of 16 bits or a `double` of 32 bits is refused."""
        return self.largest_int > 0 or self.wide_double


def limits_of(placed: PlacedPlan, code: Iterable[FunctionCounts]) -> Limits:
    """The limits of a network whose functions, and the sources that they need, are `code`."""
    plan = placed.plan
    sizes = [slot.tensor.size_bytes for slot in plan.slots]
    sizes += [slot.constant.size_bytes for slot in plan.frozen_slots]
    sizes += [instruction.scratch_bytes for instruction in plan.instructions]
    largest = BEYOND * max(sizes, default=0)
    kinds = {slot.tensor.dtype for slot in plan.slots} | {slot.constant.dtype for slot in plan.frozen_slots}
    wide = DType.F64 in kinds or any("double" in function.names for function in code)
    return Limits(largest if largest > LEAST_INT else 0, wide)
