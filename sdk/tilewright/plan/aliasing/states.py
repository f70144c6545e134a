"""States in place: the next value of a state is written over the last one, where nothing still needs that.

Proved pair by pair. The bytes of a state may hold its next value, and results that become it step by step, from the
moment behind the last reading of the old value; at that very moment only where the kernel promises to read an element
before it writes in its place, or where it computes tile by tile elsewhere and no tile loads what one before has stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.liveness import read_before_written
from tilewright.plan.plan import ExecutionPlan, Instruction, StatePair, view_root
from tilewright.plan.tile_order import loads_before_stores
from tilewright.tiling.schedule import TileSchedule


@dataclass(frozen=True)
class Copied:
    """A state that needs two places and a copy: its name, what forbids it, and the node that does."""

    state: str
    why: str
    node: str = ""


@dataclass(frozen=True)
class Settled:
    """The plan with as many states in place as can be, and the reasons of the others."""

    plan: ExecutionPlan
    copied: tuple[Copied, ...]


def settle_states(plan: ExecutionPlan, wanted: Collection[str] | None = None) -> Settled:
    """Every state in place that can be, of those whose names are `wanted`; None asks for all."""
    if not plan.state:
        return Settled(plan, ())
    apart = states_apart(plan)
    uses, pairs, copied = _Uses(apart), list[StatePair](), list[Copied]()
    for pair in apart.state:
        name = plan.slots[pair.state].tensor.name
        if wanted is not None and name not in wanted:
            within: tuple[int, ...] | Copied = Copied(name, "it was asked for two places")
        else:
            within = _within(uses, pair)
        if isinstance(within, Copied):
            copied.append(within)
            pairs.append(pair)
        else:
            pairs.append(replace(pair, within=within))
    return Settled(replace(plan, state=tuple(pairs)), tuple(copied))


def states_apart(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan with two places for every state."""
    return replace(plan, state=tuple(replace(pair, within=()) for pair in plan.state))


class _Uses:
    """Who writes and who reads every storage of a plan, with the moments at which that can happen.

    A storage is a slot with the views into it. In a sweep or a fused chain all moments are one.
    """

    def __init__(self, plan: ExecutionPlan) -> None:
        self.plan = plan
        self.root = [view_root(plan, slot.index) for slot in plan.slots]
        self.sweeps = {index: (low, high - 1) for low, high in plan.groups for index in range(low, high)}
        self.writer: dict[int, Instruction] = {}
        self.readers: dict[int, list[Instruction]] = {}
        self.aliasing: set[int] = set()
        for instruction in plan.instructions:
            for slot in instruction.outputs:
                self.writer[slot] = instruction
            for root in dict.fromkeys(self.root[slot] for slot in instruction.inputs if slot >= 0):
                self.readers.setdefault(root, []).append(instruction)
            if instruction.aliasing is not None:
                for operand, result, _ in instruction.aliasing.pairs:
                    self.aliasing |= {self.root[instruction.inputs[operand]], self.root[instruction.outputs[result]]}
        self.tiles = _tiles(plan)
        self.kept = {self.root[slot] for slot in (*plan.input_slots, *plan.output_slots, *plan.state_slots)}
        self.sources = [self.root[pair.source] for pair in plan.state]

    def in_tiles(self, one: Instruction, other: Instruction) -> bool:
        """True where both are carried out by the tiles of one schedule."""
        return one.index in self.tiles and self.tiles[one.index] is self.tiles.get(other.index)

    def begins(self, instruction: Instruction) -> int:
        """The first moment at which an instruction may write."""
        return self.sweeps.get(instruction.index, (instruction.index,))[0]

    def ends(self, instruction: Instruction) -> int:
        """The last moment at which an instruction may read."""
        return self.sweeps.get(instruction.index, (instruction.index,))[-1]


def _tiles(plan: ExecutionPlan) -> dict[int, TileSchedule]:
    """The schedule that carries an instruction out, its own or that of its chain."""
    own = {i.name: i.schedule for i in plan.instructions if i.schedule is not None}
    schedule_of = {i.index: own.get(i.fused_into or i.name) for i in plan.instructions if i.aliasing is None}
    return {index: schedule for index, schedule in schedule_of.items() if schedule is not None}


def _within(uses: _Uses, pair: StatePair) -> tuple[int, ...] | Copied:
    """The slots that lie in the bytes of the state, the last first; or what keeps the source out of them."""
    plan, name = uses.plan, uses.plan.slots[pair.state].tensor.name
    source = uses.root[pair.source]
    if source == pair.state and not view_shift(plan, pair.source):
        return (pair.source,)  # nothing changes it
    if source in uses.kept or uses.sources.count(source) > 1:
        return Copied(name, f"its next value '{plan.slots[source].tensor.name}' is an output or another state")
    refused = _refused(uses, pair, source)
    if refused is not None:
        return refused
    within = [pair.source] if pair.source == source else [pair.source, source]
    at = source
    while (earlier := _operand(uses, pair, at)) is not None:
        within.append(earlier)
        at = earlier
    return tuple(within)


def _refused(uses: _Uses, pair: StatePair, slot: int) -> Copied | None:
    """Why a slot cannot be written into the state's bytes; None where it can."""
    plan, writer = uses.plan, uses.writer.get(slot)
    old, new = plan.slots[pair.state], plan.slots[slot]
    if writer is None or new.local or slot in uses.aliasing:
        why = f"'{new.tensor.name}' shares bytes with other tensors, or is no result"
        return Copied(old.tensor.name, why, "" if writer is None else writer.name)
    alike = old.layout == new.layout or (old.layout.is_default and new.layout.is_default)
    if old.tensor.size_bytes != new.tensor.size_bytes or not alike:
        return Copied(old.tensor.name, f"'{new.tensor.name}' lies in another order of axes", writer.name)
    for reader in uses.readers.get(pair.state, ()):
        if uses.ends(reader) < uses.begins(writer):
            continue
        if uses.in_tiles(reader, writer) and _before_stores(uses, reader, writer, (pair.state, slot)):
            continue
        if reader.index != writer.index:
            return Copied(
                old.tensor.name, f"'{reader.name}' reads the old value when '{writer.name}' has written the new one",
                reader.name,
            )  # fmt: skip
        if reader.index in uses.sweeps or not _promised(uses, writer, pair.state, slot):
            return Copied(
                old.tensor.name, f"'{writer.name}' may write an element of the new value before it reads the old one",
                writer.name,
            )  # fmt: skip
    return None


def _promised(uses: _Uses, instruction: Instruction, source: int, target: int) -> bool:
    """True where the kernel reads every element of a storage before it writes the result in its place."""
    if instruction.aliasing is not None:
        return False
    result = instruction.outputs.index(target)
    pairs = instruction.kernel.in_place(instruction.call)
    return read_before_written(uses.plan, instruction, uses.root, source, result, pairs)


def _before_stores(uses: _Uses, reader: Instruction, writer: Instruction, slots: tuple[int, int]) -> bool:
    """True where the tiles of one schedule load every element of a storage before they store the result there."""
    schedule, (source, target) = uses.tiles[writer.index], slots
    root, shift = uses.root[source], view_shift(uses.plan, source)
    reading = [place for place, slot in enumerate(reader.inputs) if slot >= 0 and uses.root[slot] == root]
    written = (writer.name, writer.outputs.index(target))
    return all(
        view_shift(uses.plan, reader.inputs[place]) == shift
        and loads_before_stores(schedule, (reader.name, place), written)
        for place in reading
    )


def _operand(uses: _Uses, pair: StatePair, slot: int) -> int | None:
    """An operand that dies where `slot` is made of it, and that may lie in the state's bytes as well."""
    plan, writer = uses.plan, uses.writer[slot]
    if writer.aliasing is not None or writer.index in uses.sweeps:
        return None
    result = writer.outputs.index(slot)
    for operand, source in enumerate(writer.inputs):
        promised = uses.in_tiles(writer, writer) or (operand, result) in writer.kernel.in_place(writer.call)
        if source < 0 or not promised or view_shift(plan, source):
            continue
        root = uses.root[source]
        if (
            root in uses.kept
            or root in uses.sources
            or any(reader.index > writer.index for reader in uses.readers[root])
        ):
            continue
        free = _promised(uses, writer, root, slot) or (
            uses.in_tiles(writer, writer) and _before_stores(uses, writer, writer, (root, slot))
        )
        if free and _refused(uses, pair, root) is None:
            return root
    return None


def names_in_place(plan: ExecutionPlan) -> frozenset[str]:
    """The states of a plan whose next value is written over the last one, by name."""
    return frozenset(plan.slots[pair.state].tensor.name for pair in plan.state if pair.in_place)


def state_roots(plan: ExecutionPlan) -> Mapping[int, int]:
    """The state in whose bytes a storage lies, by its first slot; states themselves too."""
    roots = {pair.state: pair.state for pair in plan.state}
    return roots | {slot: pair.state for pair in plan.state for slot in pair.within if view_root(plan, slot) == slot}
