"""Storages that share bytes move together: what lies where, and whose value every byte holds.

An alias set is a set of storages with fixed distances. Two of them may cover the same byte at the same time only if it
holds the same value for both, and one of them, the hull, covers all others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tilewright.intervals import Shelves
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


@dataclass(frozen=True)
class _Extent:
    """What is asked of a set as a whole: its bytes [low, high), its largest member, and kinds by number."""

    low: int
    high: int
    largest: int
    inputs: int
    outputs: int
    both: int

    def with_other(self, other: _Extent) -> _Extent:
        """The extent of two sets that are one from now on."""
        return _Extent(
            min(self.low, other.low),
            max(self.high, other.high),
            max(self.largest, other.largest),
            self.inputs + other.inputs,
            self.outputs + other.outputs,
            self.both + other.both,
        )

    def moved(self, shift: int) -> _Extent:
        """The extent counted from another place."""
        return replace(self, low=self.low + shift, high=self.high + shift)

    def allowed(self, count: int) -> bool:
        """One of `count` members covers the others, and inputs and outputs of the network keep bytes of their own."""
        return (
            self.largest == self.high - self.low
            and self.outputs + self.both <= 1
            and not (self.outputs and self.inputs)
            and not (self.both and count > 1)
        )


class AliasSets:
    """Storages by root slot in sets that grow; those that are in none stand alone. `outside` may share nothing.

    `base` maps a storage to its set and where it starts in it.
    """

    def __init__(self, lives: Mapping[int, Life], outside: frozenset[int] = frozenset()) -> None:
        self.lives = lives
        self.outside = outside
        self.base: dict[int, tuple[int, int]] = {}
        self._members: dict[int, list[int]] = {}
        self._shelves: dict[int, Shelves] = {}
        self._extents: dict[int, _Extent] = {}
        self._content: dict[int, tuple[Part, ...]] = {}
        self._undo: list[Callable[[], None]] = []

    def parts(self, storage: int) -> tuple[Part, ...]:
        """What the bytes of a storage hold, by start; its own value where nothing else was said."""
        return self._content.get(storage, (Part(0, self.lives[storage].size, storage, 0),))

    def join(self, relations: Sequence[Relation], content: Mapping[int, tuple[Part, ...]], keep: bool = True) -> bool:
        """Take up these relations and contents; False where they contradict or lose a value.

        Then, and where it is not to be kept, all is as it was.
        """
        self._undo.clear()
        for storage, parts in content.items():
            self._remember(self._content, storage)
            self._content[storage] = parts
        fits = all(not {a, b} & self.outside and self._join(a, b, distance) for a, b, distance in relations)
        touched = {self.base[a][0] for a, _, _ in relations} if fits else set()
        fits = fits and all(self._extents[one].allowed(len(self._members[one])) for one in touched)
        while self._undo and not (fits and keep):
            self._undo.pop()()
        return fits

    def _remember(self, values: dict[int, Any], key: int) -> None:
        """Note how an entry is brought back to what it is now."""
        if key in values:
            self._undo.append(partial(values.__setitem__, key, values[key]))
        else:
            self._undo.append(partial(values.pop, key, None))

    def _join(self, a: int, b: int, distance: int) -> bool:
        """Puts the sets of a and b together, the smaller into the larger one.

        False where one distance contradicts another or two values meet in a byte.
        """
        for one in (a, b):
            if one not in self.base:
                self._begin(one)
        (from_set, at), (into_set, start) = self.base[a], self.base[b]
        if from_set == into_set:
            return at == start + distance
        shift = start + distance - at
        if len(self._members[from_set]) > len(self._members[into_set]):
            from_set, into_set, shift = into_set, from_set, -shift
        moved = [(one, self.base[one][1] + shift) for one in self._members[from_set]]
        shelves = self._shelves[into_set]
        for one, begin in moved:
            self._remember(self.base, one)
            self.base[one] = (into_set, begin)
            if any(self._clash(one, other) for other in shelves.meeting(begin, begin + self.lives[one].size)):
                return False
        first_new = len(self._members[into_set])
        self._members[into_set] += [one for one, _ in moved]
        self._undo.append(partial(self._members[into_set].__delitem__, slice(first_new, None)))
        for one, begin in moved:
            shelves.add(begin, begin + self.lives[one].size, one)
            self._undo.append(partial(shelves.remove, begin, begin + self.lives[one].size, one))
        self._remember(self._extents, into_set)
        self._extents[into_set] = self._extents[into_set].with_other(self._extents[from_set].moved(shift))
        return True

    def _begin(self, one: int) -> None:
        """A set of one storage."""
        life = self.lives[one]
        for values in (self.base, self._members, self._shelves, self._extents):
            self._remember(values, one)
        self.base[one], self._members[one], self._shelves[one] = (one, 0), [one], Shelves()
        self._shelves[one].add(0, life.size, one)
        kinds = (life.kind == "input", life.kind == "output", life.kind == "io")
        self._extents[one] = _Extent(0, life.size, life.size, *map(int, kinds))

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
        start, values, parts = self.base[storage][1], list[Part](), self.parts(storage)
        for place in range(bisect_right(parts, low - start, key=lambda part: part.end), len(parts)):
            part = parts[place]
            a, b = max(low, part.start + start), min(high, part.end + start)
            if a >= b:
                break
            at = part.at + a - part.start - start
            if values and values[-1].origin == part.origin and values[-1].at + a - values[-1].start == at:
                values[-1] = Part(values[-1].start, b, part.origin, values[-1].at)
            else:
                values.append(Part(a, b, part.origin, at))
        return values


def relations_of(plan: ExecutionPlan, root: Sequence[int]) -> list[Relation]:
    """The distances between storages that aliasing instructions ask for."""
    relations = []
    for instruction in plan.instructions:
        if instruction.aliasing is not None:
            for operand, result, shift in instruction.aliasing.pairs:
                a, b = instruction.inputs[operand], instruction.outputs[result]
                relations.append((root[a], root[b], shift + view_shift(plan, b) - view_shift(plan, a)))
    return relations


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
        shift = start + distance - at
        if len(members[old]) > len(members[alias_set]):
            old, alias_set, shift = alias_set, old, -shift
        if old != alias_set:
            for one in members.pop(old):
                base[one] = (alias_set, base[one][1] + shift)
                members[alias_set].append(one)
    return base


def view_shift(plan: ExecutionPlan, slot: int) -> int:
    """Bytes between the start of a storage and a view into it."""
    shift, view = 0, plan.slots[slot].storage
    while view is not None:
        shift += view[1]
        view = plan.slots[view[0]].storage
    return shift
