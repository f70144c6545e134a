"""Live ranges: the one place where they are computed.

Time i is instruction i. A storage is the memory behind one or several slots: a slot, the views into it, and results
that a kernel may write over a dying operand. It lives in [first, last + 1): inputs from 0, outputs to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.intervals import Shelves
from tilewright.plan.aliasing.alias_sets import bases_of, relations_of, view_shift
from tilewright.plan.choices import Choices
from tilewright.plan.exclusive import pauses
from tilewright.plan.guards import Guards
from tilewright.plan.plan import ExecutionPlan, Instruction


@dataclass(frozen=True)
class Storage:
    """Memory shared by `members`; `root` is the slot it is named after.

    `kind` is activation, input, output, io or state.

    `within` is (root of another storage, byte offset) where that one's bytes are shown: the hull of an alias set. In
    `pauses`, runs of instructions [low, high), others may have the bytes: a call that runs those reads nothing here.
    """

    root: int
    members: tuple[int, ...]
    size_bytes: int
    first: int
    last: int
    kind: str
    within: tuple[int, int] | None = None
    pauses: tuple[tuple[int, int], ...] = ()


Bases = dict[int, tuple[int, int]]
"""Storage to (alias set, start in it) for all storages that share bytes with others."""


def last_use(plan: ExecutionPlan) -> tuple[int, ...]:
    """Per slot the last instruction that reads it; -1 for inputs, outputs and slots that nothing reads."""
    last = [-1] * len(plan.slots)
    for instruction in plan.instructions:
        for slot in instruction.inputs:
            if slot >= 0:
                last[slot] = instruction.index
    for slot in (*plan.input_slots, *plan.state_slots, *plan.output_slots):
        last[slot] = -1
    return tuple(last)


def storages(
    plan: ExecutionPlan, *, in_place: bool = True, pinned: frozenset[int] = frozenset(), guards: Guards = ()
) -> tuple[Storage, ...]:
    """Every storage of the plan. `pinned` are slots whose memory is not ours to write over (the caller's inputs).

    `guards` are those under which the code runs the instructions; without them every one runs.
    """
    choices = Choices(plan, guards) if any(guards) else None
    root = list(range(len(plan.slots)))
    for slot in plan.slots:
        if slot.storage is not None:
            root[slot.index] = root[slot.storage[0]]
    _merge_states(plan, root)
    first, last = _extents(plan, root)
    bases = bases_of(relations_of(plan, root))
    if in_place:
        _merge_in_place(plan, root, first, last, pinned, bases)
        first, last = _extents(plan, root)
    if in_place and choices is not None:
        _merge_choices(plan, root, choices, pinned, bases)
        first, last = _extents(plan, root)
    members: dict[int, list[int]] = {}
    for slot in plan.slots:
        if not slot.local:
            members.setdefault(root[slot.index], []).append(slot.index)
    outputs = {root[s] for s in plan.output_slots}
    inputs, states = {root[s] for s in plan.input_slots}, {root[s] for s in plan.state_slots}
    sizes = {head: max(plan.slots[s].tensor.size_bytes for s in group) for head, group in members.items()}
    hulls = _hulls(bases, sizes)
    groups_of_slots = []
    for head, group in members.items():
        kind = {(True, True): "io", (True, False): "input", (False, True): "output"}.get(
            (head in inputs, head in outputs), "activation"
        )
        if head in states:
            kind = "state"
        between: tuple[tuple[int, int], ...] = ()
        if choices is not None and head not in bases and kind != "state" and not pinned.intersection(group):
            needed = [choices.values[slot].needed(guards) for slot in group if slot in choices.values]
            between = pauses(needed, first[head], last[head])
        groups_of_slots.append(
            Storage(head, tuple(group), sizes[head], first[head], last[head], kind, hulls.get(head), between)
        )
    return tuple(groups_of_slots)


def _merge_states(plan: ExecutionPlan, root: list[int]) -> None:
    """Slots that lie in the bytes of a state, with their views, are members of its storage."""
    home = {root[slot]: pair.state for pair in plan.state for slot in pair.within}
    for slot, head in enumerate(root):
        root[slot] = home.get(head, head)


def _hulls(bases: Bases, sizes: dict[int, int]) -> dict[int, tuple[int, int]]:
    """(hull, offset in it) of every storage that is not its alias set's hull: the largest, the first of several."""
    hull: dict[int, int] = {}
    for head, (alias_set, _) in sorted(bases.items(), key=lambda entry: (-sizes[entry[0]], entry[0])):
        hull.setdefault(alias_set, head)
    return {
        head: (hull[alias_set], start - bases[hull[alias_set]][1])
        for head, (alias_set, start) in bases.items()
        if head != hull[alias_set]
    }


def _extents(plan: ExecutionPlan, root: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    """First and last instruction at which each root is live."""
    end = max(len(plan.instructions) - 1, 0)
    sweeps = {index: (low, high - 1) for low, high in plan.groups for index in range(low, high)}
    first: dict[int, int] = {}
    last: dict[int, int] = {}

    def touch(slot: int, time: int) -> None:
        head = root[slot]
        first[head] = min(first.get(head, time), time)
        last[head] = max(last.get(head, time), time)

    for slot in plan.input_slots:
        touch(slot, 0)
    for instruction in plan.instructions:
        for slot in (*instruction.inputs, *instruction.outputs):
            if slot >= 0:
                for time in sweeps.get(instruction.index, (instruction.index,)):
                    touch(slot, time)
    for slot in (*plan.output_slots, *(pair.source for pair in plan.state)):
        touch(slot, end)
    for slot in plan.state_slots:
        touch(slot, 0)
        touch(slot, end)
    return first, last


def _tilewise(instruction: Instruction, operand: int, result: int) -> bool:
    """True where a tiled instruction reads of an operand just the part that it writes of the result."""
    if instruction.schedule is None:
        return not instruction.fused_into
    boxes: dict[tuple[str, int], list[str]] = {}
    for each in instruction.schedule.stages[-1].operands:
        boxes[each.kind, each.index] = [str(sub) for access in each.accesses for sub in access.subscripts]
    return len(instruction.schedule.stages) == 1 and boxes.get(("input", operand)) == boxes.get(("output", result))


def read_before_written(
    plan: ExecutionPlan,
    instruction: Instruction,
    root: list[int],
    source: int,
    result: int,
    pairs: Sequence[tuple[int, int]],
) -> bool:
    """True where no reading of the bytes of `source` can find the result in their place.

    The kernel promises that for one operand at a time. The same bytes may be read through several operands: each must
    have its promise, and see the elements in the same places.
    """
    meant = plan.slots[source]
    for operand, slot in enumerate(instruction.inputs):
        if slot < 0 or root[slot] != root[source]:
            continue
        read = plan.slots[slot]
        if (operand, result) not in pairs or not _tilewise(instruction, operand, result):
            return False
        alike = (read.tensor.shape, read.layout) == (meant.tensor.shape, meant.layout)
        flat = read.layout.is_default and meant.layout.is_default and read.tensor.size_bytes == meant.tensor.size_bytes
        if not (alike or flat):
            return False
        if view_shift(plan, slot) != view_shift(plan, source):
            return False
    return True


def _merge_in_place(
    plan: ExecutionPlan,
    root: list[int],
    first: dict[int, int],
    last: dict[int, int],
    pinned: frozenset[int],
    bases: Bases,
) -> None:
    """Let a result take the memory of an operand that dies at the same instruction, where the kernel allows it."""
    fixed = {root[s] for s in (*pinned, *plan.state_slots)}
    outputs = {root[s] for s in (*plan.output_slots, *(pair.source for pair in plan.state))}
    inputs = {root[s] for s in plan.input_slots}
    merging = _Merging(plan, root, bases)
    watched = {root[slot] for slot in pinned}
    swept = {i: {o for m in plan.instructions[a:b] for o in m.outputs} for a, b in plan.groups for i in range(a, b)}
    for instruction in plan.instructions:
        pairs = () if instruction.aliasing is not None else instruction.kernel.in_place(instruction.call)
        for operand, result in pairs:
            source = instruction.inputs[operand] if operand < len(instruction.inputs) else -1
            target = instruction.outputs[result]
            if source < 0 or root[target] != target or root[source] == target:
                continue
            head = root[source]
            a, b = plan.slots[source], plan.slots[target]
            if last[head] != instruction.index or head in fixed or head in outputs:
                continue
            if not read_before_written(plan, instruction, root, source, result, pairs):
                continue
            if a.tensor.size_bytes < b.tensor.size_bytes or a.layout != b.layout:
                continue
            if head in inputs and target in outputs:
                continue
            # other members of a sweep may still read, element by element, what was made outside of it
            if head not in swept.get(instruction.index, {head}):
                continue
            if not merging.free_to_take((head, target), first, last):
                continue
            if (head in bases or target in bases) and watched & {head, target}:
                continue
            for slot in merging.merge(head, target):
                root[slot] = head
            last[head] = max(last[head], last[target])
            if target in watched:
                watched.add(head)
            if target in outputs:
                outputs.add(head)
            break


def _merge_choices(
    plan: ExecutionPlan, root: list[int], choices: Choices, pinned: frozenset[int], bases: Bases
) -> None:
    """Let both operands of a choice lie where its result lies, so that what is taken is there already."""
    fixed = {root[slot] for slot in (*pinned, *plan.state_slots)}
    inputs, outputs = ({root[slot] for slot in slots} for slots in (plan.input_slots, plan.output_slots))
    members: dict[int, list[int]] = {}
    for slot, head in enumerate(root):
        members.setdefault(head, []).append(slot)
    for choice in choices.choices:
        pairs, target = choice.kernel.in_place(choice.call), choice.outputs[0]
        for operand in (1, 2):
            source = choice.inputs[operand]
            if source < 0 or (operand, 0) not in pairs or {root[source], root[target]} & (fixed | bases.keys()):
                continue
            head, home = sorted((root[source], root[target]))
            alike = plan.slots[source].layout == plan.slots[target].layout and not view_shift(plan, source)
            apart = len({head, home} & inputs) + len({head, home} & outputs) > 1
            if head == home or not alike or apart or not choices.free(members[head], members[home]):
                continue
            for slot in members[home]:
                root[slot] = head
            members[head] += members.pop(home)
            for ends in (inputs, outputs):
                if home in ends:
                    ends.add(head)


class _Merging:
    """The slots and the size of every storage while storages are merged, and where in its alias set each lies."""

    def __init__(self, plan: ExecutionPlan, root: list[int], bases: Bases) -> None:
        self.bases = bases
        self._members: dict[int, list[int]] = {}
        self._sizes: dict[int, int] = {}
        for slot in plan.slots:
            head = root[slot.index]
            self._members.setdefault(head, []).append(slot.index)
            self._sizes[head] = max(self._sizes.get(head, 0), slot.tensor.size_bytes)
        self._alias_sets: dict[int, Shelves] = {}
        for head in bases:
            self._put(head)

    def free_to_take(self, pair: tuple[int, int], first: dict[int, int], last: dict[int, int]) -> bool:
        """True where no other storage of an alias set needs the bytes that the two take together, while they do."""
        head, target = pair
        if head in self.bases and target in self.bases:
            return False
        member = head if head in self.bases else target
        if member not in self.bases:
            return True
        if self._sizes[head] != self._sizes[target]:
            return False
        alias_set, start = self.bases[member]
        begin, end = (last[head], last[target]) if member == head else (first[head], last[head])
        for other in self._alias_sets[alias_set].meeting(start, start + self._sizes[head]):
            if other != member and not (last[other] < begin or first[other] > end):
                return False
        return True

    def merge(self, head: int, target: int) -> list[int]:
        """The slots of `target`, which become those of `head`, as does its place in an alias set."""
        moved = self._members.pop(target)
        self._members[head] += moved
        for one in (head, target):
            if one in self.bases:
                alias_set, start = self.bases[one]
                self._alias_sets[alias_set].remove(start, start + self._sizes[one], one)
        self._sizes[head] = max(self._sizes[head], self._sizes[target])
        if target in self.bases:
            self.bases[head] = self.bases.pop(target)
        if head in self.bases:
            self._put(head)
        return moved

    def _put(self, head: int) -> None:
        alias_set, start = self.bases[head]
        self._alias_sets.setdefault(alias_set, Shelves()).add(start, start + self._sizes[head], head)
