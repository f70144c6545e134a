"""Where the arguments of layer functions point to: the network's own memory, or memory of the caller."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.terms import plus
from tilewright.memory.placed import PlacedPlan


@dataclass(frozen=True)
class Pointer:
    """An argument of a layer function as C; `caller` names the parameter of `run` that it is, if it is one. `place` is
    the first byte without a type, which arguments for the same bytes have in common.
    """

    text: str
    caller: str = ""
    place: str = ""


@dataclass(frozen=True)
class Memories:
    """C expressions for the first byte of the arena, and of what is kept from call to call.

    `fast` begins the names of the compute level's arrays. `settled` is the variable that says whose constants lie
    where they are kept; empty where no other network writes there.
    """

    arena: str
    state: str
    fast: str = ""
    settled: str = ""


def memories_of(name: str, context: bool) -> Memories:
    """Arrays of the model's, or members of the caller's context."""
    return (
        Memories("context->arena", "context->state", name)
        if context
        else Memories(f"{name}_arena", f"{name}_state_memory", name)
    )


def address(placed: PlacedPlan, slot: int, memories: Memories) -> str | None:
    """C expression for the first byte of a slot in the network's own memory; None where it is the caller's."""
    if slot in placed.state_offsets:
        return plus(memories.state, placed.state_offsets[slot])
    return plus(memories.arena, placed.slot_offsets[slot]) if slot in placed.slot_offsets else None


def pointer(placed: PlacedPlan, slot: int, memories: Memories, readonly: bool) -> Pointer:
    """The address of a slot: in the network's memory, or the caller's pointer."""
    c_type = f"{'const ' if readonly else ''}{C_TYPES[placed.plan.slots[slot].tensor.dtype]}"
    own = address(placed, slot, memories)
    if own is not None:
        return Pointer(f"({c_type} *)(void *){own if own.isidentifier() else f'({own})'}", place=own)
    caller = caller_name(placed, slot)
    return Pointer(f"({c_type} *){caller}", caller, caller)


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
