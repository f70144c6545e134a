"""Where the arguments of layer functions point to: the network's own memory, or memory of the caller."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.c_types import C_TYPES
from tilewright.memory.placed import PlacedPlan


@dataclass(frozen=True)
class Pointer:
    """An argument of a layer function as C; `caller` names the parameter of `run` that it is, if it is one."""

    text: str
    caller: str = ""


def pointer(placed: PlacedPlan, slot: int, prefix: str, arena: str, readonly: bool) -> Pointer:
    """The address of a slot: in the arena, or the caller's pointer."""
    c_type = f"{'const ' if readonly else ''}{C_TYPES[placed.plan.slots[slot].tensor.dtype]}"
    if slot in placed.slot_offsets:
        return Pointer(f"({c_type} *)(void *)({arena} + {placed.slot_offsets[slot]})")
    caller = caller_name(placed, slot)
    return Pointer(f"({c_type} *){caller}", caller)


def caller_name(placed: PlacedPlan, slot: int) -> str:
    """Name of the caller's pointer for an input or output, or for a view of one."""
    plan = placed.plan
    root = slot
    while plan.slots[root].storage is not None:
        root = plan.slots[root].storage[0]  # type: ignore[index]
    for storage in placed.storages:
        if root in storage.members:
            for word, slots in (("input", plan.input_slots), ("output", plan.output_slots)):
                for position, outer in enumerate(slots):
                    if outer in storage.members:
                        return f"{word}_{position}"
    raise AssertionError(f"slot {slot} has no memory")
