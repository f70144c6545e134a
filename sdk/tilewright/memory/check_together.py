"""Checks networks that share memories without what placed them: byte by byte, from offsets and sizes alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.together import Together
from tilewright.model import Array

Piece = tuple[str, int, int]
"""What lies there, its first byte, and the one behind its last."""


def check_together(kit: Together) -> None:
    """Raise where networks would damage one another, or read a constant or a state that is not theirs.

    Concurrent networks touch no common byte of the arena; every network lies as it was placed alone; a constant has
    the bytes of each that reads it; bytes of states that two networks touch are one state of both.
    """
    for number, (placed, alone) in enumerate(zip(kit.placed, kit.alone, strict=True)):
        _check_moved(kit, number, placed, alone)
    pieces = [tuple(_pieces(placed)) for placed in kit.placed]
    for a, b in kit.concurrent:
        if a == b:
            raise _bug(f"'{kit.placed[a].plan.name}' is concurrent with itself")
        if kit.placed[a].plan.compute_bytes or kit.placed[b].plan.compute_bytes:
            raise _bug(f"tiles of '{kit.placed[a].plan.name}' and '{kit.placed[b].plan.name}' share a memory")
        for name, low, high in pieces[a]:
            for other, start, end in pieces[b]:
                if low < end and start < high:
                    raise _bug(
                        f"'{name}' of '{kit.placed[a].plan.name}' and '{other}' of '{kit.placed[b].plan.name}' "
                        "share bytes, and both may run at a time"
                    )
    _check_constants(kit)
    for a, b in combinations(range(len(kit.placed)), 2):
        _check_states(kit, a, b)


def _pieces(placed: PlacedPlan) -> Iterator[Piece]:
    """Everything of a network that lies in the arena."""
    for slot, at in placed.slot_offsets.items():
        tensor = placed.plan.slots[slot].tensor
        yield tensor.name, at, at + tensor.size_bytes
    for number, at in placed.scratch_offsets.items():
        instruction = placed.plan.instructions[number]
        yield f"scratch of {instruction.name}", at, at + instruction.scratch_bytes
    for index, at in placed.frozen_offsets.items():
        constant = placed.plan.frozen_slots[index].constant
        yield f"copy of {constant.name}", at, at + constant.size_bytes


def _check_moved(kit: Together, number: int, placed: PlacedPlan, alone: PlacedPlan) -> None:
    """Every offset is that of the network alone, moved by one aligned distance, and inside the memories."""
    pairs = [
        (placed.slot_offsets, alone.slot_offsets), (placed.scratch_offsets, alone.scratch_offsets),
        (placed.frozen_offsets, alone.frozen_offsets),
    ]  # fmt: skip
    for here, offsets_alone in pairs:
        if set(here) != set(offsets_alone):
            raise _bug(f"'{placed.plan.name}' has lost or won a place in the arena")
        for key, at in here.items():
            if at - offsets_alone[key] != kit.bases[number] or kit.bases[number] % alone.align:
                raise _bug(f"'{placed.plan.name}' does not lie as it was placed")
    for name, low, high in _pieces(placed):
        if not 0 <= low <= high <= kit.arena_bytes:
            raise _bug(f"'{name}' of '{placed.plan.name}' leaves the arena")


def _check_constants(kit: Together) -> None:
    """Every constant of every network is read from an array of its bytes."""
    read = set[tuple[int, int]]()
    for array in kit.constants:
        for network, slot in array.readers:
            constant = kit.placed[network].plan.frozen_slots[slot].constant
            values: Array = np.ascontiguousarray(constant.values.astype(constant.dtype.numpy, copy=False))
            shared: Array = np.ascontiguousarray(array.values)
            if constant.dtype != array.dtype or values.tobytes() != shared.tobytes():
                raise _bug(f"'{constant.name}' of '{kit.placed[network].plan.name}' is not the array that it shares")
            read.add((network, slot))
    wanted = {(n, slot.index) for n, placed in enumerate(kit.placed) for slot in placed.plan.frozen_slots}
    if read != wanted:
        raise _bug(f"{len(wanted - read)} constants have no array")


def _check_states(kit: Together, a: int, b: int) -> None:
    """Bytes of states that two networks touch belong to one state of both, which lies at one place."""
    one, other = kit.placed[a], kit.placed[b]
    owners = {own: state for state in kit.states for own in state.owners}
    for number, pair in enumerate(one.plan.state):
        for again, second in enumerate(other.plan.state):
            here, other_offset = one.state_offsets[pair.state], other.state_offsets[second.state]
            same = owners[a, number] == owners[b, again]
            if same and here != other_offset:
                raise _bug(f"state '{owners[a, number].name}' lies at {here} and at {other_offset}")
            if not same:
                continue
            tensors = [plan.slots[slot].tensor for plan, slot in ((one.plan, pair.state), (other.plan, second.state))]
            if (tensors[0].dtype, tensors[0].shape) != (tensors[1].dtype, tensors[1].shape):
                raise _bug(f"state '{owners[a, number].name}' is of two types or shapes")
            if (a, b) in kit.concurrent or (b, a) in kit.concurrent:
                raise _bug(f"state '{owners[a, number].name}' is written by networks that may run at a time")
    taken = sorted((state.offset, state.offset + state.size_bytes, state.name) for state in kit.states)
    for (_, end, name), (start, _, following) in pairwise(taken):
        if start < end:
            raise _bug(f"states '{name}' and '{following}' share bytes")
    for placed, number in ((one, a), (other, b)):
        inside = [(s.offset, s.offset + s.size_bytes) for s in kit.states if number in {n for n, _ in s.owners}]
        for slot, at in placed.state_offsets.items():
            end = at + placed.plan.slots[slot].tensor.size_bytes
            if end > kit.state_bytes or not any(low <= at and end <= high for low, high in inside):
                raise _bug(f"'{placed.plan.slots[slot].tensor.name}' leaves the states of '{placed.plan.name}'")


def _bug(what: str) -> TilewrightError:
    return TilewrightError(f"bundle: {what}", why="this is a bug in tilewright", fix="compile the networks one by one")
