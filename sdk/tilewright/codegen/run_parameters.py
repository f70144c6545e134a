"""The parameters of `run`, which of them no layer uses, and which must not be NULL."""

from __future__ import annotations

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.functions import Functions
from tilewright.memory.placed import PlacedPlan


def run_parameters(placed: PlacedPlan, context: bool) -> str:
    """The parameters of `run`: the instance, and the caller's pointers where inputs and outputs are its own."""
    return ", ".join(f"{kind} *{name}" for name, kind in _listed(placed, context).items()) or "void"


def run_arguments(placed: PlacedPlan, context: bool) -> tuple[str, ...]:
    """Their names."""
    return tuple(_listed(placed, context))


def _listed(placed: PlacedPlan, context: bool) -> dict[str, str]:
    """By name what each points to."""
    plan = placed.plan
    listed = {"context": f"{plan.name}_context"} if context else {}
    if placed.io == "arena":
        return listed
    for i, slot in enumerate(plan.input_slots):
        kind = "tilewright_rows" if placed.io == "stream" else C_TYPES[plan.slots[slot].tensor.dtype]
        listed[f"input_{i}"] = f"const {kind}"
    return listed | {f"output_{i}": C_TYPES[plan.slots[s].tensor.dtype] for i, s in enumerate(plan.output_slots)}


def unused(placed: PlacedPlan, functions: Functions) -> tuple[str, ...]:
    """Caller's pointers that no layer reads or writes; C wants them named."""
    if placed.io == "arena":
        return ()
    plan = placed.plan
    names = [f"input_{i}" for i in range(len(plan.input_slots))]
    names += [f"output_{i}" for i in range(len(plan.output_slots))]
    used = {argument.caller for call in functions.calls for argument in call.arguments}
    return tuple(name for name in names if name not in used)


def pointers(placed: PlacedPlan, functions: Functions, context: bool) -> tuple[str, ...]:
    """The parameters of `run` that must not be NULL: the instance, and what points to elements that layers use."""
    pointers = ["context"] if context else []
    if placed.io == "arena":
        return tuple(pointers)
    plan, idle = placed.plan, unused(placed, functions)
    for word, slots in (("input", plan.input_slots), ("output", plan.output_slots)):
        pointers += [f"{word}_{i}" for i, slot in enumerate(slots) if plan.slots[slot].tensor.elements]
    return tuple(name for name in pointers if name not in idle)
