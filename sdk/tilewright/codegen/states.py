"""What the generated C says of states: where each lies, what it begins with, and what is copied after a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.c_types import constant_type, packed
from tilewright.codegen.comments import safe, shape_text
from tilewright.codegen.constant_array import ConstantArray
from tilewright.codegen.pointers import Memories, address
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.plan.plan import ExecutionPlan, StatePair


@dataclass(frozen=True)
class StateText:
    """One state: bytes in the states' memory, its names, and the C that gives it its first value, if that is not zero.

    `zero` is the C that gives it zeros.
    """

    index: int
    offset: int
    size_bytes: int
    comment: str
    first: str
    zero: str


@dataclass(frozen=True)
class StatesText:
    """All states. `copies` are the statements that a call ends with, marked as the instruction `mark`."""

    size_bytes: int
    states: tuple[StateText, ...]
    copies: tuple[str, ...]
    mark: int

    @property
    def zero(self) -> bool:
        """True where nothing but zeros is written by a reset."""
        return all(not state.first for state in self.states)


@dataclass(frozen=True)
class Stored:
    """A state whose first value is an array of the weights file; `number` among the states."""

    number: int
    pair: StatePair
    initial: Array


def stored_states(plan: ExecutionPlan) -> tuple[Stored, ...]:
    """The states that begin with more than one byte over and over."""
    states = []
    for number, pair in enumerate(plan.state):
        if pair.initial is not None:
            values = packed(plan.slots[pair.state].tensor.dtype, pair.initial)
            if _one_byte(values) is None:
                states.append(Stored(number, pair, values))
    return tuple(states)


def first_values(plan: ExecutionPlan) -> tuple[ConstantArray, ...]:
    """The arrays of the weights file that states begin with."""
    arrays, names = [], first_names(plan)
    for one in stored_states(plan):
        assert one.pair.initial is not None
        tensor = plan.slots[one.pair.state].tensor
        name, count = names[one.number], int(one.initial.size)
        comment = f"first value of '{safe(tensor.name)}'"
        arrays.append(ConstantArray(name, constant_type(tensor.dtype), count, comment, tensor.dtype, one.pair.initial))
    return tuple(arrays)


def states_text(
    placed: PlacedPlan, memories: Memories, first_names: Mapping[int, str], size_bytes: int
) -> StatesText | None:
    """What the templates print; None where nothing lives from call to call.

    `first_names` are the arrays that states begin with, by number; the network's own states take `size_bytes`.
    """
    plan = placed.plan
    if not plan.state:
        return None
    texts, copies = [], []
    for number, pair in enumerate(plan.state):
        tensor, source = plan.slots[pair.state].tensor, plan.slots[pair.source].tensor
        own = address(placed, pair.state, memories)
        first = ""
        if number in first_names:
            first = f"memcpy({own}, {first_names[number]}, {tensor.size_bytes}u)"
        elif pair.initial is not None:
            first = f"(void)memset({own}, {_one_byte(packed(tensor.dtype, pair.initial))}, {tensor.size_bytes}u)"
        comment = f"'{safe(tensor.name)}' from '{safe(source.name)}', {shape_text(tensor)}"
        zero = f"(void)memset({own}, 0, {tensor.size_bytes}u)"
        texts.append(StateText(number, placed.state_offsets[pair.state], tensor.size_bytes, comment, first, zero))
        if not pair.in_place:
            copies.append(f"memcpy({own}, {address(placed, pair.source, memories)}, {tensor.size_bytes}u)")
    return StatesText(size_bytes, tuple(texts), tuple(copies), len(plan.instructions))


def first_names(plan: ExecutionPlan) -> dict[int, str]:
    """The names of those arrays, by number of the state."""
    return {one.number: f"{plan.name}_state_{one.number}_first" for one in stored_states(plan)}


def _one_byte(values: Array) -> int | None:
    """The byte that an array is made of over and over; None where there are several."""
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
    return int(raw[0]) if raw.size and (raw == raw[0]).all() else 0 if not raw.size else None
