"""A placement problem as the allocators see it: rigid items, whole units of address, forbidden distances.

Views are merged into the buffer that they show, sizes are rounded to what alignment leaves anyway and divided by their
greatest common divisor, and a permitted overlap is a shorter forbidden interval of one pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Rival:
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
class Packing:
    """Items that share one memory; `rivals[i]` says what item i must keep away from. `unit` is in bytes."""

    unit: int
    items: tuple[Item, ...]
    rivals: tuple[tuple[Rival, ...], ...]
    savings: tuple[Saving, ...]

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
        """Whether every two items alive together simply exclude each other: no odd views, no permitted overlaps."""
        return not self.savings and all(
            rival.low == -item.size and rival.high == self.items[rival.other].size
            for item, rivals in zip(self.items, self.rivals, strict=True)
            for rival in rivals
        )

    def select(self, chosen: Sequence[int]) -> Packing:
        """The packing of some items only; rivals outside the choice are dropped."""
        position = {index: place for place, index in enumerate(chosen)}
        return Packing(
            self.unit,
            tuple(self.items[index] for index in chosen),
            tuple(
                tuple(
                    Rival(position[rival.other], rival.low, rival.high)
                    for rival in self.rivals[index]
                    if rival.other in position
                )
                for index in chosen
            ),
            tuple(
                Saving(
                    saving.moment,
                    (position[saving.earlier[0]], saving.earlier[1]),
                    (position[saving.later[0]], saving.later[1]),
                    saving.size,
                )
                for saving in self.savings
                if saving.later[0] in position and saving.earlier[0] in position
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
    gaps = {
        (where[overlap.earlier], where[overlap.later]): -(-overlap.gap // unit)
        for overlap in problem.overlaps
        if overlap.earlier in where and overlap.later in where
    }
    rivals, savings = _relations(items, gaps)
    return Packing(unit, items, rivals, savings)


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


def _relations(
    items: Sequence[Item], gaps: Mapping[tuple[tuple[int, int], tuple[int, int]], int]
) -> tuple[tuple[tuple[Rival, ...], ...], tuple[Saving, ...]]:
    """Forbidden distances of every pair of items that are alive together, and what overlaps may save."""
    forbidden: dict[tuple[int, int], list[tuple[int, int]]] = {}
    savings: list[Saving] = []
    alive: list[tuple[int, int]] = []
    births = sorted((member.lower, i, m) for i, item in enumerate(items) for m, member in enumerate(item.members))
    for lower, i, m in births:
        alive = [(j, n) for j, n in alive if items[j].members[n].upper > lower]
        one = items[i].members[m]
        for j, n in alive:
            if i == j:
                continue
            other = items[j].members[n]
            # Distances are of the first item of the pair relative to the second.
            low, high = -one.size, other.size
            if ((j, n), (i, m)) in gaps:
                gap = gaps[((j, n), (i, m))]
                low = max(low, -gap)
                savings.append(Saving(lower, (j, n), (i, m), _shared(other.size, one.size, gap)))
            elif ((i, m), (j, n)) in gaps:
                gap = gaps[((i, m), (j, n))]
                high = min(high, gap)
                savings.append(Saving(lower, (i, m), (j, n), _shared(one.size, other.size, gap)))
            shift = other.shift - one.shift
            if i < j:
                forbidden.setdefault((i, j), []).append((low + shift, high + shift))
            else:
                forbidden.setdefault((j, i), []).append((-high - shift, -low - shift))
        alive.append((i, m))
    rivals: list[list[Rival]] = [[] for _ in items]
    for (i, j), intervals in forbidden.items():
        for low, high in _merged(intervals):
            rivals[i].append(Rival(j, low, high))
            rivals[j].append(Rival(i, -high, -low))
    return tuple(tuple(sorted(found, key=lambda rival: rival.other)) for found in rivals), tuple(savings)


def _shared(earlier: int, later: int, gap: int) -> int:
    """Units that a permitted overlap shares at best: the later one reaches past `gap` units into the earlier one."""
    return max(0, min(earlier, later - max(gap, 0)))


def _merged(intervals: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Open intervals of whole numbers, united where they overlap; empty ones vanish."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(set(intervals)):
        if high - low < 2:
            continue
        if found and low < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found
