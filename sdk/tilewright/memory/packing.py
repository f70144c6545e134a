"""A placement problem as the allocators see it: rigid items, whole units of address, forbidden distances.

Views are merged into the buffer that they show, sizes are rounded to what alignment leaves anyway and divided by their
greatest common divisor, and a permitted overlap is a shorter forbidden interval of one pair.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from tilewright.memory.problem import Buffer, PlacementProblem
from tilewright.memory.validate import validate


@dataclass(frozen=True)
class Member:
    """One named buffer inside an item: `size` and `shift` in units, `padding` in bytes, alive in [lower, upper)."""

    name: str
    lower: int
    upper: int
    shift: int
    size: int
    padding: int


@dataclass(frozen=True)
class Item:
    """Buffers that move together: `size`, `align` and `pinned` in units; `padding` bytes of its last unit are idle."""

    members: tuple[Member, ...]
    lower: int
    upper: int
    size: int
    padding: int
    align: int
    pinned: int | None


class Rival(NamedTuple):
    """The offset of an item may not lie strictly between offset(other) + low and offset(other) + high."""

    other: int
    low: int
    high: int


@dataclass(frozen=True)
class Saving:
    """At most `size` units that two buffers, as (item, member), may share at one moment."""

    moment: int
    earlier: tuple[int, int]
    later: tuple[int, int]
    size: int


@dataclass(frozen=True)
class Gap:
    """A permitted overlap: the other buffer, as (item, member), ends its life as `member` of the item begins its own.

    `size` in units is the distance that must be kept: offset(other) + size <= offset(this one) where they share bytes.
    """

    member: int
    other: tuple[int, int]
    size: int


@dataclass(frozen=True)
class Packing:
    """Items that share one memory; `gaps[i]` are the permitted overlaps whose earlier buffer is of item i.

    `unit` is in bytes. What follows for pairs of items is worked out when it is first asked for.
    """

    unit: int
    items: tuple[Item, ...]
    gaps: tuple[tuple[Gap, ...], ...]

    @cached_property
    def rivals(self) -> tuple[tuple[Rival, ...], ...]:
        """What each item must keep away from; as many in all as `crowd` says."""
        return _rivals(self.items, self.gaps)

    @cached_property
    def savings(self) -> tuple[Saving, ...]:
        """What the permitted overlaps may save, in order of time."""
        return _savings(self.items, self.gaps)

    @cached_property
    def crowd(self) -> int:
        """The number of pairs of buffers that are alive together."""
        births = sorted(member.lower for item in self.items for member in item.members)
        deaths = sorted(member.upper for item in self.items for member in item.members)
        dead = pairs = 0
        for place, moment in enumerate(births):
            while deaths[dead] <= moment:
                dead += 1
            pairs += place - dead
        return pairs

    def peak(self, offsets: Sequence[int]) -> int:
        """Bytes up to the highest byte that any item uses, for offsets in units."""
        return max((self.top(item, offset) for item, offset in zip(self.items, offsets, strict=True)), default=0)

    def top(self, item: Item, offset: int) -> int:
        """Bytes up to the end of one item that lies at `offset` units."""
        return (offset + item.size) * self.unit - item.padding

    def highest(self, item: Item, capacity: int) -> int:
        """The highest offset in units at which an item stays within `capacity` bytes; negative where there is none."""
        return (capacity + item.padding) // self.unit - item.size

    def is_rectangles(self) -> bool:
        """Whether every two items alive together simply exclude each other: no odd views, no pauses, no overlaps."""
        return (
            not self.savings
            and not any(_pauses(item) for item in self.items)
            and all(
                rival.low == -item.size and rival.high == self.items[rival.other].size
                for item, rivals in zip(self.items, self.rivals, strict=True)
                for rival in rivals
            )
        )

    def select(self, chosen: Sequence[int]) -> Packing:
        """The packing of some items only; rivals outside the choice are dropped."""
        position = {index: place for place, index in enumerate(chosen)}
        return Packing(
            self.unit,
            tuple(self.items[index] for index in chosen),
            tuple(
                tuple(
                    replace(gap, other=(position[gap.other[0]], gap.other[1]))
                    for gap in self.gaps[index]
                    if gap.other[0] in position
                )
                for index in chosen
            ),
        )


def normalise(problem: PlacementProblem) -> Packing:
    """Merges views and scales a problem; buffers without bytes are left out. Raises UsageError on a bad problem."""
    roots = validate(problem)
    buffers = {buffer.name: buffer for buffer in problem.buffers}
    groups: dict[str, list[str]] = {}
    for name, (root, _) in roots.items():
        if buffers[name].size:
            groups.setdefault(root, []).append(name)
    unit = _unit(problem, buffers, roots)
    items = tuple(_item(names, buffers, roots, unit) for names in groups.values())
    where = {member.name: (i, m) for i, item in enumerate(items) for m, member in enumerate(item.members)}
    gaps: list[list[Gap]] = [[] for _ in items]
    for overlap in problem.overlaps:
        if overlap.earlier in where and overlap.later in where:
            item, member = where[overlap.earlier]
            gaps[item].append(Gap(member, where[overlap.later], -(-overlap.gap // unit)))
    return Packing(unit, items, tuple(tuple(each) for each in gaps))


def components(packing: Packing) -> list[list[int]]:
    """Groups of item indices that are separated by moments which no item crosses, in order of time."""
    order = sorted(range(len(packing.items)), key=lambda index: packing.items[index].lower)
    groups: list[list[int]] = []
    end = 0
    for index in order:
        item = packing.items[index]
        if not groups or item.lower >= end:
            groups.append([])
            end = item.upper
        groups[-1].append(index)
        end = max(end, item.upper)
    return groups


def alive_together(packing: Packing) -> list[list[int]]:
    """The sets of items alive at one moment that no other such set contains, in order of time."""
    sets: list[list[int]] = []
    alive: list[int] = []
    for index in sorted(range(len(packing.items)), key=lambda index: packing.items[index].lower):
        staying = [other for other in alive if packing.items[other].upper > packing.items[index].lower]
        if len(staying) < len(alive):
            sets.append(alive)
        alive = [*staying, index]
    if alive:
        sets.append(alive)
    return sets


def _pauses(item: Item) -> bool:
    """True where none of an item's buffers is alive at some moment of its life."""
    end = item.lower
    for member in sorted(item.members, key=lambda member: member.lower):
        if member.lower > end:
            return True
        end = max(end, member.upper)
    return False


def _unit(problem: PlacementProblem, buffers: Mapping[str, Buffer], roots: Mapping[str, tuple[str, int]]) -> int:
    """Bytes per unit, such that some best placement has all its offsets on whole units.

    A best placement can be pushed down until every buffer rests on 0, a pin or another buffer, so that offsets are sums
    of rounded sizes, pins and overlap distances.
    """
    used = [buffer for buffer in problem.buffers if buffer.size]
    grain = math.gcd(*(buffer.align for buffer in used)) or 1
    unit = 0
    for buffer in used:
        shift = roots[buffer.name][1]
        base = 0 if buffer.pinned is None else buffer.pinned - shift
        unit = math.gcd(unit, -(-buffer.size // grain) * grain, shift, base)
    for overlap in problem.overlaps:
        unit = math.gcd(unit, -(-overlap.gap // grain) * grain)
    for align in {buffer.align for buffer in used}:
        if unit % align:
            unit = math.gcd(unit, align)
    return unit or 1


def _item(names: Sequence[str], buffers: Mapping[str, Buffer], roots: Mapping[str, tuple[str, int]], unit: int) -> Item:
    """One item from the buffers that share a root."""
    members, top, align, pinned = [], 0, 1, None
    for name in names:
        buffer, shift = buffers[name], roots[name][1]
        units = -(-buffer.size // unit)
        members.append(Member(name, buffer.lower, buffer.upper, shift // unit, units, units * unit - buffer.size))
        top = max(top, shift + buffer.size)
        align = math.lcm(align, buffer.align)
        pinned = pinned if buffer.pinned is None else (buffer.pinned - shift) // unit
    size = -(-top // unit)
    return Item(
        tuple(members),
        min(member.lower for member in members),
        max(member.upper for member in members),
        size,
        size * unit - top,
        align // math.gcd(align, unit),
        pinned,
    )


def _rivals(items: Sequence[Item], gaps: Sequence[Sequence[Gap]]) -> tuple[tuple[Rival, ...], ...]:
    """Forbidden distances of every pair of items that are alive together."""
    permitted = {((i, gap.member), gap.other): gap.size for i, each in enumerate(gaps) for gap in each}
    forbidden: dict[tuple[int, int], list[tuple[int, int]]] = {}
    alive: dict[int, list[int]] = {}
    for i, m, gone in _births(items):
        for j, n in gone:
            alive[j].remove(n)
            if not alive[j]:
                del alive[j]
        born = items[i].members[m]
        for j, n in ((j, n) for j, members in alive.items() if j != i for n in members):
            other = items[j].members[n]
            # Distances are of the first item of the pair relative to the second.
            low, high = -born.size, other.size
            before, after = permitted.get(((j, n), (i, m))), permitted.get(((i, m), (j, n)))
            if before is not None:
                low = max(low, -before)
            elif after is not None:
                high = min(high, after)
            shift = other.shift - born.shift
            if i < j:
                forbidden.setdefault((i, j), []).append((low + shift, high + shift))
            else:
                forbidden.setdefault((j, i), []).append((-high - shift, -low - shift))
        alive.setdefault(i, []).append(m)
    rivals: list[list[Rival]] = [[] for _ in items]
    for (i, j), intervals in forbidden.items():
        for low, high in _merged(intervals):
            rivals[i].append(Rival(j, low, high))
            rivals[j].append(Rival(i, -high, -low))
    return tuple(tuple(sorted(of_item, key=lambda rival: rival.other)) for of_item in rivals)


def _births(items: Sequence[Item]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Item and member of every buffer in order of birth, with those that have died since the one before."""
    dying: list[tuple[int, int, int]] = []
    for lower, i, m in sorted(
        (member.lower, i, m) for i, item in enumerate(items) for m, member in enumerate(item.members)
    ):
        gone = []
        while dying and dying[0][0] <= lower:
            _, j, n = heapq.heappop(dying)
            gone.append((j, n))
        yield i, m, gone
        heapq.heappush(dying, (items[i].members[m].upper, i, m))


def _savings(items: Sequence[Item], gaps: Sequence[Sequence[Gap]]) -> tuple[Saving, ...]:
    """What permitted overlaps of different items may save at the moment at which both are alive."""
    savings = []
    for i, each in enumerate(gaps):
        for gap in each:
            j, n = gap.other
            earlier, later = items[i].members[gap.member], items[j].members[n]
            moment = max(earlier.lower, later.lower)
            if i != j and moment < min(earlier.upper, later.upper):
                size = _shared(earlier.size, later.size, gap.size)
                savings.append(Saving(moment, (i, gap.member), (j, n), size))
    return tuple(sorted(savings, key=lambda saving: (saving.moment, saving.later, saving.earlier)))


def _shared(earlier: int, later: int, gap: int) -> int:
    """Units that a permitted overlap shares at best: the later one reaches past `gap` units into the earlier one."""
    return max(0, min(earlier, later - max(gap, 0)))


def _merged(intervals: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Open intervals of whole numbers, united where they overlap; empty ones vanish."""
    if len(intervals) == 1:  # as nearly all are
        return [(low, high) for low, high in intervals if high - low >= 2]
    united: list[tuple[int, int]] = []
    for low, high in sorted(set(intervals)):
        if high - low < 2:
            continue
        if united and low < united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], high))
        else:
            united.append((low, high))
    return united
