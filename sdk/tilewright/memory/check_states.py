"""Checks a placed plan's states without the planner: follows whose value every byte of their memory holds.

What a state held before the call lies there at first. An instruction must find in the bytes of each operand the value
that it means, and leaves its results; whatever else it computes itself lies there no longer. What is cut into tiles is
followed copy by copy, what is computed at a sitting stage by stage, with copies that start ahead of theirs. At the end
every byte must hold what the next call reads, or be copied from where that lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.ops.index.transfer import Transfer
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.tiling.schedule import Operand, Stage, TileSchedule


def check_states(placed: PlacedPlan) -> None:
    """Raise where a byte of a state would be read that holds another value than the network means."""
    plan = placed.plan
    held: Array = np.full(placed.state_bytes, -1, np.int64)
    for pair in plan.state:
        where = _bytes(placed, pair.state)
        if where is None:
            raise _bug(placed, pair.state, "has no place of its own")
        if (held[where] != -1).any():
            raise _bug(placed, pair.state, "shares bytes with another state")
        held[where] = _value(plan, pair.state)
    for together in _moments(plan):
        _carry_out(placed, together, held)
    for pair in plan.state:
        source, where = _value(plan, pair.source), _bytes(placed, pair.state)
        stays = (held[where] == source).all()
        if not stays and (pair.in_place or _bytes(placed, pair.source) is not None):
            raise _bug(placed, pair.state, "does not hold its next value at the end of a call")


def _moments(plan: ExecutionPlan) -> Iterable[tuple[Instruction, ...]]:
    """Instructions one by one; those of a sweep, of a fused chain or of a sitting at once."""
    at = 0
    for low, high in (*plan.calls, (len(plan.instructions),) * 2):
        yield from ((instruction,) for instruction in plan.instructions[at:low])
        if low < high:
            yield plan.instructions[low:high]
        at = high


def _carry_out(placed: PlacedPlan, together: tuple[Instruction, ...], held: Array) -> None:
    """What instructions that run at once find and leave in the states' memory."""
    plan = placed.plan
    sitting = next((i.schedule for i in together if i.schedule is not None and i.schedule.starts), None)
    if sitting is not None:
        _carry_out_sitting(placed, {instruction.name: instruction for instruction in together}, sitting, held)
        return
    written = {slot for instruction in together for slot in instruction.outputs}
    for instruction in together:
        for place, slot in enumerate(instruction.inputs):
            where = None if slot < 0 or (instruction.name, place) in plan.handed_on else _bytes(placed, slot)
            if where is not None and _value(plan, slot) not in written and (held[where] != _value(plan, slot)).any():
                raise _bug(placed, slot, f"is overwritten when '{instruction.name}' reads it")
    schedule = together[-1].schedule
    if schedule is not None and _in_tiles(placed, together, schedule):
        _carry_out_tiles(placed, together, schedule, held)
        return
    for instruction in together:
        for place, slot in enumerate(instruction.outputs):
            where = _bytes(placed, slot)
            if where is None:
                continue
            for reader in together:
                _hold_apart(placed, reader, (instruction, place), where)
            held[where] = slot


def _carry_out_sitting(
    placed: PlacedPlan, by_name: Mapping[str, Instruction], sitting: TileSchedule, held: Array
) -> None:
    """What stages and errands find and leave. A copy for a stage may run from the stage beside which it starts, before
    that one's results are stored, up to its own: the value that it means lies there all the time.
    """

    def found(instruction: Instruction, place: int, when: str) -> None:
        slot = instruction.inputs[place]
        where = None if slot < 0 else _bytes(placed, slot)
        if where is not None and (held[where] != _value(placed.plan, slot)).any():
            raise _bug(placed, slot, f"does not hold its value when {when} '{instruction.name}'")

    def left(instruction: Instruction) -> None:
        for slot in instruction.outputs:
            if (where := _bytes(placed, slot)) is not None:
                held[where] = slot

    for moment in range(-1, len(sitting.stages)):
        if moment >= 0:
            stage = sitting.stages[moment]
            for one in stage.operands:
                if one.kind == "input":
                    found(by_name[stage.node], one.index, "it must be there for")
        for stage in sitting.stages:
            for one in stage.operands:
                if one.kind == "input" and sitting.starts.get(one.key) == moment:
                    found(by_name[stage.node], one.index, "its copy starts for")
        if moment >= 0:
            left(by_name[sitting.stages[moment].node])
        for instruction in (by_name[errand.node] for errand in sitting.errands if errand.after == moment):
            for place in range(len(instruction.inputs)):
                found(instruction, place, "it is read by")
            left(instruction)


def _hold_apart(placed: PlacedPlan, reader: Instruction, result: tuple[Instruction, int], where: slice) -> None:
    """Operands read while a result is written may lie under it only as the kernel allows: in the very same place."""
    writer, place = result
    for number, slot in enumerate(reader.inputs):
        other = None if slot < 0 else _bytes(placed, slot)
        if other is None or other.stop <= where.start or where.stop <= other.start:
            continue
        allowed = reader is writer and (number, place) in writer.kernel.in_place(writer.call)
        if not allowed or other != where:
            raise _bug(placed, slot, f"is read by '{reader.name}' while '{writer.name}' writes over it")


def _in_tiles(placed: PlacedPlan, together: tuple[Instruction, ...], schedule: TileSchedule) -> bool:
    """True where every operand and result in the states' memory is copied tile by tile, to buffers elsewhere, or read
    and written in such a buffer alone."""
    copied = {_port(stage, one) for stage in schedule.stages for one in stage.operands if not schedule.resident(one)}
    return all(
        (instruction.name, kind, place) in copied
        for instruction in together
        for kind, slots in (("input", instruction.inputs), ("output", instruction.outputs))
        for place, slot in enumerate(slots)
        if slot >= 0 and _bytes(placed, slot) is not None
    )


def _port(stage: Stage, operand: Operand) -> tuple[str, str, int]:
    """The node, and which of its operands or results is meant."""
    if operand.kind != "local":
        return stage.node, operand.kind, operand.index
    return (stage.node, "input", operand.index) if operand.index >= 0 else (stage.node, "output", -1 - operand.index)


def _carry_out_tiles(
    placed: PlacedPlan, together: tuple[Instruction, ...], schedule: TileSchedule, held: Array
) -> None:
    """What the copies of tiles find and leave, the stores of each before the loads of the next."""
    by_name, places = {instruction.name: instruction for instruction in together}, dict[str, tuple[int, Array]]()
    for stage in schedule.stages:
        instruction = by_name[stage.node]
        for one in stage.operands:
            slots = {"input": instruction.inputs, "output": instruction.outputs}.get(one.kind)
            where = None if slots is None or slots[one.index] < 0 else _bytes(placed, slots[one.index])
            if slots is not None and where is not None:
                places[one.key] = slots[one.index], held[where]
    for step in schedule.steps():
        for copies, stored in ((step.loads, False), (step.stores, True)):
            for copy in (one for one in copies if one.key in places):
                slot, own = places[copy.key]
                moved = _moved(copy.transfer, placed.plan.slots[slot].tensor.dtype.bits // 8)
                if stored:
                    own[moved] = slot
                elif (own[moved] != _value(placed.plan, slot)).any():
                    what = f"is overwritten by a tile of '{together[-1].name}' when a later one loads it"
                    raise _bug(placed, slot, what)
    for slot in (slot for instruction in together for slot in instruction.outputs):
        where = _bytes(placed, slot)
        if where is not None and (held[where] != slot).any():
            raise _bug(placed, slot, f"is not stored whole by the tiles of '{together[-1].name}'")


def _moved(transfer: Transfer, size_bytes: int) -> Array:
    """The bytes of a tensor that a copy moves, of elements of so many bytes."""
    starts: Array = np.array([transfer.offset], np.int64)
    for count, stride in transfer.repeats:
        starts = (starts[:, None] + stride * np.arange(count)).reshape(-1)
    elements = (starts[:, None] + np.arange(transfer.run)).reshape(-1)
    return (elements[:, None] * size_bytes + np.arange(size_bytes)).reshape(-1)


def _bytes(placed: PlacedPlan, slot: int) -> slice | None:
    """The bytes of a slot in the states' memory; None where it lies elsewhere."""
    start = placed.state_offsets.get(slot)
    size_bytes = placed.plan.slots[slot].tensor.size_bytes
    if start is None:
        return None
    if not 0 <= start <= start + size_bytes <= placed.state_bytes:
        raise _bug(placed, slot, "leaves the memory of the states")
    return slice(start, start + size_bytes)


def _value(plan: ExecutionPlan, slot: int) -> int:
    """The slot whose value a slot shows."""
    while (storage := plan.slots[slot].storage) is not None:
        slot = storage[0]
    return slot


def _bug(placed: PlacedPlan, slot: int, what: str) -> TilewrightError:
    name = placed.plan.slots[slot].tensor.name
    return TilewrightError(
        f"state: '{name}' {what}", why="this is a bug in tilewright", fix="report it; --without-pass state avoids it",
        tensor=name,
    )  # fmt: skip
