"""Storages that share bytes move together: what lies where, and whose value every byte holds.

An alias set is a set of storages with fixed distances. Two of them may cover the same byte at the same time only if it
holds the same value for both, and one of them, the hull, covers all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.plan.plan import ExecutionPlan

Relation = tuple[int, int, int]
"""(a, b, distance): storage a starts `distance` bytes behind the start of storage b."""


@dataclass(frozen=True)
class Part:
    """Bytes [start, end) of a storage that hold those of `origin` from its byte `at` on."""

    start: int
    end: int
    origin: int
    at: int


@dataclass(frozen=True)
class Life:
    """Bytes of a storage and its first and last instruction; `kind` as in liveness."""

    size: int
    first: int
    last: int
    kind: str


@dataclass
class AliasSets:
    """Alias sets: storages by root slot; those that are in none stand alone. `outside` may share nothing."""

    lives: Mapping[int, Life]
    outside: frozenset[int] = frozenset()
    base: dict[int, tuple[int, int]] = field(default_factory=dict)
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    content: dict[int, tuple[Part, ...]] = field(default_factory=dict)

    def parts(self, storage: int) -> tuple[Part, ...]:
        """What the bytes of a storage hold; its own value where nothing else was said."""
        return self.content.get(storage, (Part(0, self.lives[storage].size, storage, 0),))

    def joined(self, relations: Sequence[Relation], content: Mapping[int, tuple[Part, ...]]) -> AliasSets | None:
        """The sets with these relations and contents; None where they contradict each other or a value is lost."""
        made = AliasSets(self.lives, self.outside, dict(self.base), dict(self.members), {**self.content, **content})
        for a, b, distance in relations:
            if {a, b} & self.outside or not made._join(a, b, distance):
                return None
        touched = {made.base[a][0] for a, _, _ in relations}
        return made if all(made._allowed(made.members[alias_set]) for alias_set in touched) else None

    def _join(self, a: int, b: int, distance: int) -> bool:
        """Puts a's set into b's; False where one distance contradicts another or two values meet in a byte."""
        for one in (a, b):
            if one not in self.base:
                self.base[one], self.members[one] = (one, 0), (one,)
        (from_set, at), (alias_set, start) = self.base[a], self.base[b]
        if from_set == alias_set:
            return at == start + distance
        shift = start + distance - at
        moved = self.members.pop(from_set)
        for one in moved:
            self.base[one] = (alias_set, self.base[one][1] + shift)
        if any(self._clash(one, other) for one in moved for other in self.members[alias_set]):
            return False
        self.members[alias_set] += moved
        return True

    def _clash(self, one: int, other: int) -> bool:
        """True where both are alive at one moment and hold different values in the same byte."""
        a, b = self.lives[one], self.lives[other]
        if a.first > b.last or b.first > a.last:
            return False
        low = max(self.base[one][1], self.base[other][1])
        high = min(self.base[one][1] + a.size, self.base[other][1] + b.size)
        return low < high and self._values(one, low, high) != self._values(other, low, high)

    def _values(self, storage: int, low: int, high: int) -> list[Part]:
        """What lies at [low, high) of the alias set, for one storage; neighbours of one origin as one part."""
        start, found = self.base[storage][1], list[Part]()
        for part in self.parts(storage):
            a, b = max(low, part.start + start), min(high, part.end + start)
            if a >= b:
                continue
            at = part.at + a - part.start - start
            if found and found[-1].origin == part.origin and found[-1].at + a - found[-1].start == at:
                found[-1] = Part(found[-1].start, b, part.origin, found[-1].at)
            else:
                found.append(Part(a, b, part.origin, at))
        return found

    def _allowed(self, members: Sequence[int]) -> bool:
        """One member covers the others, and inputs and outputs of the network keep bytes of their own."""
        low = min(self.base[one][1] for one in members)
        high = max(self.base[one][1] + self.lives[one].size for one in members)
        kinds = [self.lives[one].kind for one in members]
        return (
            any(self.base[one][1] == low and self.lives[one].size == high - low for one in members)
            and kinds.count("output") + kinds.count("io") <= 1
            and not ("output" in kinds and "input" in kinds)
            and not ("io" in kinds and len(members) > 1)
        )


def relations_of(plan: ExecutionPlan, root: Sequence[int]) -> list[Relation]:
    """The distances between storages that aliasing instructions ask for."""
    found = []
    for instruction in plan.instructions:
        if instruction.aliasing is not None:
            for operand, result, shift in instruction.aliasing.pairs:
                a, b = instruction.inputs[operand], instruction.outputs[result]
                found.append((root[a], root[b], shift + view_shift(plan, b) - view_shift(plan, a)))
    return found


def bases_of(relations: Sequence[Relation]) -> dict[int, tuple[int, int]]:
    """Storage to (alias set, start in it) for all storages that share; relations agree with each other."""
    base: dict[int, tuple[int, int]] = {}
    members: dict[int, list[int]] = {}
    for a, b, distance in relations:
        for one in (a, b):
            if one not in base:
                base[one], members[one] = (one, 0), [one]
        (old, at), (alias_set, start) = base[a], base[b]
        assert old != alias_set or at == start + distance, "two distances of one storage"
        if old != alias_set:
            for one in members.pop(old):
                base[one] = (alias_set, base[one][1] + start + distance - at)
                members[alias_set].append(one)
    return base


def view_shift(plan: ExecutionPlan, slot: int) -> int:
    """Bytes between the start of a storage and a view into it."""
    shift, view = 0, plan.slots[slot].storage
    while view is not None:
        shift += view[1]
        view = plan.slots[view[0]].storage
    return shift
