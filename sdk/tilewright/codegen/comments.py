"""Text for C comments. Names come from the model and are untrusted: only harmless characters pass."""

from __future__ import annotations

import re

from tilewright.memory.placed import PlacedPlan
from tilewright.model import Tensor
from tilewright.plan.plan import FrozenSlot, Instruction

_UNSAFE = re.compile(r"[^A-Za-z0-9_.:;,+ -]")


def safe(name: str, limit: int = 60) -> str:
    """A name as it may stand in a comment: no character that could end it, start an escape or a trigraph."""
    text = _UNSAFE.sub("_", name)
    return text if len(text) <= limit else text[: limit - 2] + ".."


def shape_text(tensor: Tensor) -> str:
    """Type and shape, e.g. `f32[1,16,32,32]`."""
    return f"{tensor.type_token}[{','.join(map(str, tensor.shape))}]"


def layer_comment(placed: PlacedPlan, instruction: Instruction) -> str:
    """Node name, shapes, bytes and places of one layer."""
    plan = placed.plan

    def place(slot: int) -> str:
        tensor = plan.slots[slot].tensor
        at: int | str = placed.slot_offsets.get(slot, "caller")
        if slot in placed.state_offsets:
            at = f"state + {placed.state_offsets[slot]}"
        return f"{shape_text(tensor)} {tensor.size_bytes} B at {at}"

    ins = ", ".join(place(s) for s in instruction.inputs if s >= 0) or "constants"
    outs = ", ".join(place(s) for s in instruction.outputs)
    frozen = sum(plan.frozen_slots[f].constant.values.nbytes for f in instruction.frozen)
    constants = f", {frozen} B constants" if frozen else ""
    scratch = f", {instruction.scratch_bytes} B scratch" if instruction.scratch_bytes else ""
    node = instruction.call.node
    if instruction.aliasing is not None:
        scratch = ", in place"
    engine = f", on {safe(instruction.kernel.engine)}" if instruction.kernel.engine else ""
    return f"{safe(node.op)} '{safe(node.name)}': {ins} -> {outs}{constants}{scratch}{engine}"


def constant_comment(slot: FrozenSlot) -> str:
    """What a constant array is."""
    return f"{safe(slot.constant.name)} of '{safe(slot.node)}'"


def port_comment(name: str, tensor: Tensor) -> str:
    """Name, type and shape of an input or output."""
    return f"'{safe(name)}', {shape_text(tensor)}"
