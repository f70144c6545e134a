"""Every tiling of a subject, counted; reduced to its front of (bytes, cycles). No solver.

All candidates are estimated at once; those near the front are then walked exactly (`walk.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from math import prod
from typing import Any

import numpy as np

from tilewright.tiling.geometry import Ints, pieces
from tilewright.tiling.hierarchy import align_up, moving_cycles, start_cycles
from tilewright.tiling.schedule import Operand
from tilewright.tiling.subject import Subject
from tilewright.tiling.walk import Cut, Objective, cost_of, engine_of, stage_sizes, walk

MOST_CANDIDATES = 20_000
MOST_ORDERS = 24
THRESHOLDS = 8
ESTIMATE = 1.03
"""How far an estimate may lie above the exact figure."""


@dataclass(frozen=True)
class _Row:
    """Estimates of all candidates under one loop order and depth."""

    order: tuple[str, ...]
    double: bool
    used: Ints
    cycles: Ints
    traffic: Ints


def candidate_sizes(subject: Subject) -> dict[str, list[int]]:
    """Per loop that may be cut: ceil(extent / n) for every n, and what the kernel wishes, as its multiples allow."""
    sizes_of = {}
    for name in subject.cuttable:
        extent, step = subject.extents[name], subject.multiples.get(name, 1)
        sizes = {-(-extent // n) for n in range(1, extent + 1)}
        for of in subject.wishes.get(name, ()):
            sizes |= set(range(of, extent, of)) if extent // of <= 64 else {of << i for i in range(extent.bit_length())}
        sizes_of[name] = sorted({min(extent, align_up(size, step)) for size in sizes})
    while prod(map(len, sizes_of.values())) > MOST_CANDIDATES:
        longest = max(sizes_of, key=lambda name: len(sizes_of[name]))
        sizes_of[longest] = sorted({*sizes_of[longest][::2], sizes_of[longest][-1]})
    return sizes_of


def walked(
    subject: Subject, capacity: int, limit: int | None = None, objective: Objective = "cycles"
) -> tuple[Cut, ...]:
    """Candidates near the front of at most `capacity` bytes, walked exactly, in a fixed order; empty if none fits.

    Nothing is walked whose estimate lies clearly above the cost `limit`.
    """
    choices = candidate_sizes(subject)
    sizes, rows = _estimates(subject, choices, capacity)
    if not rows:
        return ()
    used = np.concatenate([row.used for row in rows])
    cycles = np.concatenate([row.cycles for row in rows])
    traffic = np.concatenate([row.traffic for row in rows])
    count = rows[0].used.size
    if limit is not None:
        cheap = cost_of(cycles.astype(np.float64), traffic.astype(np.float64), objective) <= limit * ESTIMATE
        used = np.where(cheap, used, capacity + 1)
    cuts: dict[tuple[object, ...], Cut] = {}
    few = len(subject.works) > 1
    for flat in _near_front(used, cycles, traffic, capacity, few):
        which, place = divmod(flat, count)
        row = rows[which]
        chosen = {n: int(v[place]) for n, v in sizes.items() if int(v[place]) < subject.extents[n]}
        order = tuple(n for n in row.order if n in chosen)
        key = (tuple(sorted(chosen.items())), order, row.double and bool(order))
        if key not in cuts:
            cuts[key] = walk(subject, chosen, order, row.double and bool(order))
    return tuple(sorted((c for c in cuts.values() if c.compute_bytes <= capacity), key=_rank))


def _rank(cut: Cut) -> tuple[object, ...]:
    return cut.compute_bytes, cut.cycles, cut.traffic, cut.double, cut.order, sorted(cut.sizes.items())


def front_of(cuts: Sequence[Cut], most: int = 30, objective: Objective = "cycles") -> tuple[Cut, ...]:
    """The cuts that nothing of fewer bytes beats in cost, at most `most` of them, the extremes kept."""
    front: list[Cut] = []
    for cut in sorted(cuts, key=_rank):
        if not front or cut.cost(objective) < front[-1].cost(objective):
            if front and front[-1].compute_bytes == cut.compute_bytes:
                front.pop()
            front.append(cut)
    if len(front) > most:
        places = np.unique(np.linspace(0, len(front) - 1, most).round().astype(int))
        front = [front[i] for i in places]
    return tuple(front)


def best_within(cuts: Sequence[Cut], capacity: int, objective: Objective = "cycles") -> Cut | None:
    """The cut of least cost that takes at most `capacity` bytes."""
    fitting = [cut for cut in cuts if cut.compute_bytes <= capacity]
    return min(fitting, key=lambda cut: (cut.cost(objective), *_rank(cut))) if fitting else None


# ------------------------------------------------------------------------------------------------ estimates
def smallest(subject: Subject) -> int:
    """Fewest bytes of the compute level that any single-buffered tiling takes: each loop at its least, or whole."""
    choices = {}
    for name in subject.cuttable:
        extent = subject.extents[name]
        choices[name] = sorted({min(extent, subject.multiples.get(name, 1)), extent})
    sizes, count = _grid(subject, choices)
    return int(np.min(_least(subject, _tables(subject, sizes, count))))


def _least(subject: Subject, tables: _Tables) -> Any:
    """Bytes of every candidate with single buffers."""
    return tables.fixed + sum(tables.size[o.key] for _, o in subject.copied)


def _grid(subject: Subject, choices: Mapping[str, list[int]]) -> tuple[dict[str, Ints], int]:
    """All combinations of sizes whose tiles have no holes, as arrays per loop."""
    grids = np.meshgrid(*(np.array(c, np.int64) for c in choices.values()), indexing="ij") if choices else []
    sizes = {n: g.ravel() for n, g in zip(choices, grids, strict=True)}
    keep = np.ones(next(iter(sizes.values())).size if sizes else 1, bool)
    for inner, outer in subject.digits:
        whole = sizes[inner] == subject.extents[inner] if inner in sizes else True
        keep &= whole | (sizes[outer] == 1 if outer in sizes else subject.extents[outer] == 1)
    return {n: v[keep] for n, v in sizes.items()}, int(keep.sum())


def _estimates(
    subject: Subject, choices: Mapping[str, list[int]], capacity: int
) -> tuple[dict[str, Ints], tuple[_Row, ...]]:
    """Candidates that fit, as arrays per loop, and their estimates per order and depth."""
    sizes, count = _grid(subject, choices)
    tables = _tables(subject, sizes, count)
    fits = np.broadcast_to(_least(subject, tables) <= capacity, (count,))
    if not fits.any():
        return {}, ()
    if not fits.all():
        sizes = {n: v[fits] for n, v in sizes.items()}
        tables = tables.where(fits)
    compute = _compute(subject, sizes, tables)
    cut = [n for n in sizes if (sizes[n] < subject.extents[n]).any()]
    rows = []
    for order in filter(subject.keeps_sums, _orders(tables, cut)):
        rows += _ordered(subject, tables, compute, order)
    return sizes, tuple(rows)


def _orders(tables: _Tables, cut: Sequence[str]) -> list[tuple[str, ...]]:
    """Loop orders worth estimating: loops that move the same operands stand together, in their own order.

    Between two such loops nothing can be kept that would not be kept further out, so no other order copies less.
    """
    groups: dict[frozenset[str], list[str]] = {}
    for name in cut:
        groups.setdefault(
            frozenset(key for key, operand in tables.operands.items() if name in operand.loops), []
        ).append(name)
    return [tuple(n for group in order for n in group) for order in islice(permutations(groups.values()), MOST_ORDERS)]


@dataclass(frozen=True)
class _Operand:
    """Per candidate, of one operand: bytes of a buffer, bytes of all its tiles once, cycles of starting one copy, and
    those of moving it that its bytes do not ask for.

    `longest` is the longest tile along each axis, `loops` are the loops that move it.
    """

    size: Ints
    swept: Ints
    start: Ints
    runs: Ints
    longest: tuple[Ints, ...]
    loops: frozenset[str]

    def where(self, mask: Any) -> _Operand:
        """Of some candidates only."""
        return _Operand(
            self.size[mask], self.swept[mask], self.start[mask], self.runs[mask],
            tuple(axis[mask] for axis in self.longest), self.loops,
        )  # fmt: skip


@dataclass(frozen=True)
class _Tables:
    """Per candidate: trips of each loop, what is known of each operand by key, and bytes beside the buffers."""

    trips: Mapping[str, Ints]
    operands: Mapping[str, _Operand]
    fixed: Any

    @property
    def size(self) -> Mapping[str, Ints]:
        """Bytes of a buffer by operand key."""
        return {key: operand.size for key, operand in self.operands.items()}

    @property
    def longest(self) -> Mapping[str, Sequence[Ints]]:
        """Longest tile along each axis by operand key."""
        return {key: operand.longest for key, operand in self.operands.items()}

    def where(self, mask: Any) -> _Tables:
        """Of some candidates only."""
        return _Tables(
            {n: v[mask] for n, v in self.trips.items()},
            {key: operand.where(mask) for key, operand in self.operands.items()},
            np.broadcast_to(self.fixed, mask.shape)[mask],
        )


def _tables(subject: Subject, sizes: Mapping[str, Ints], count: int) -> _Tables:
    ones = np.ones(count, np.int64)
    trips = {n: -(-subject.extents[n] // v) for n, v in sizes.items()}
    places: dict[tuple[str, ...], tuple[Ints, Ints]] = {}
    operands = {}
    for number, operand in subject.copied:
        key = ("candidates", operand.key, count)
        if key not in subject.known:
            subject.known[key] = _tabulated(subject, number, operand, sizes, places, count)
        tables = subject.known[key]
        assert isinstance(tables, _Operand)
        operands[operand.key] = tables
    longest = {key: operand.longest for key, operand in operands.items()}
    scratch: Any = ones * 0
    for number in range(len(subject.stages)):
        scratch = np.maximum(scratch, subject.scratch(number, stage_sizes(subject, number, sizes, longest)))
    tiles = np.prod(np.stack([*trips.values(), ones]), axis=0)
    fixed = align_up(scratch, subject.hierarchy.compute.align) + subject.hierarchy.table_bytes_per_tile * tiles
    return _Tables(trips, operands, fixed)


def _tabulated(
    subject: Subject, number: int, operand: Operand, sizes: Mapping[str, Ints],
    places: dict[tuple[str, ...], tuple[Ints, Ints]], count: int,
) -> _Operand:  # fmt: skip
    """One operand over all candidates."""
    total: Any = np.ones(count, np.int64)
    elements: Any = total
    most, moved = list[Ints](), set[str]()
    for axis in range(len(operand.shape)):
        high, added = _axis(subject, number, operand, axis, sizes, places, count)
        most.append(high)
        elements = elements * high
        total = total * added
        moved |= set(subject.axis_loops(number, operand, axis)) & sizes.keys()
    size = align_up(-(-elements * operand.bits // 8), subject.hierarchy.compute.align)
    engine = engine_of(subject, operand)
    runs, orders = pieces(most, operand.shape, operand.axes, engine.ranks)
    start, runs = start_cycles(engine, orders), moving_cycles(engine, 0, runs)
    return _Operand(
        size, -(-total * operand.bits // 8), np.broadcast_to(start, (count,)), np.broadcast_to(runs, (count,)),
        tuple(most), frozenset(moved),
    )  # fmt: skip


def _axis(
    subject: Subject, number: int, operand: Operand, axis: int, sizes: Mapping[str, Ints],
    places: dict[tuple[str, ...], tuple[Ints, Ints]], count: int,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Longest tile and sum over all tiles of an axis, per candidate."""
    loops = tuple(n for n in subject.axis_loops(number, operand, axis) if n in sizes)
    if not loops:
        length = int(subject.chain.axis_lengths(number, operand, axis, {}))
        same = np.full(count, length, np.int64)
        return same, same
    if loops not in places:
        places[loops] = _distinct([sizes[n] for n in loops])
    rows, inverse = places[loops]
    if len(loops) == 1:
        most, total = _axis_at_once(subject, number, operand, axis, loops[0], rows[0])
        return most[inverse], total[inverse]
    high, added = [], []
    for row in rows.T:
        lengths = subject.chain.axis_lengths(number, operand, axis, dict(zip(loops, map(int, row), strict=True)))
        high.append(int(lengths.max()))
        added.append(int(lengths.sum()))
    return np.array(high, np.int64)[inverse], np.array(added, np.int64)[inverse]


def _distinct(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The rows that occur, and for every candidate which of them it is."""
    width = [int(column.max()) + 1 for column in columns]
    code = np.ravel_multi_index(tuple(columns), width)
    distinct, inverse = np.unique(code, return_inverse=True)
    return np.stack(np.unravel_index(distinct, width)), inverse.reshape(-1)


def _axis_at_once(
    subject: Subject, number: int, operand: Operand, axis: int, loop: str, sizes: Ints
) -> tuple[Ints, Ints]:
    """As `_axis` for one loop: the tiles of all sizes in one array."""
    extent = subject.extents[loop]
    starts = [np.arange(0, extent, size, dtype=np.int64) for size in sizes.tolist()]
    low = np.concatenate(starts)
    step = np.repeat(sizes, [len(s) for s in starts])
    first, last = subject.chain.axis_range(number, operand, axis, {loop: (low, np.minimum(low + step, extent))})
    lengths = np.broadcast_to(np.maximum(last - first, 0), low.shape)
    bounds = np.cumsum([0, *(len(s) for s in starts[:-1])])
    return np.maximum.reduceat(lengths, bounds), np.add.reduceat(lengths, bounds)


def _compute(subject: Subject, sizes: Mapping[str, Ints], tables: _Tables) -> Any:
    """Cycles of all tiles of all stages; in chains the producers' tiles count as interior ones."""
    ones = np.ones(next(iter(sizes.values())).size if sizes else 1, np.int64)
    compute: Any = ones * 0
    last = len(subject.stages) - 1
    for number in range(last):
        local = subject.stages[number].local()
        assert local is not None
        times = ones
        for name in tables.operands[local.key].loops:
            times = times * tables.trips[name]
        cost = subject.cycles(number, stage_sizes(subject, number, sizes, tables.longest))
        compute = compute + times * (cost + subject.hierarchy.costs.kernel)
    full = stage_sizes(subject, last, sizes, tables.longest)
    cut = [n for n in sizes if (subject.extents[n] % sizes[n]).any()]
    for borders in product((False, True), repeat=len(cut)):
        times, part = ones, dict(full)
        for name in sizes:
            rest = subject.extents[name] % sizes[name]
            border = name in cut and borders[cut.index(name)]
            times = times * (rest > 0 if border else subject.extents[name] // sizes[name])
            part[name] = np.maximum(rest, 1) if border else sizes[name]
        compute = compute + times * subject.cycles(last, part)
    return compute


def _ordered(subject: Subject, tables: _Tables, compute: Any, order: tuple[str, ...]) -> list[_Row]:
    """Estimates under one loop order, single- and double-buffered."""
    one = np.ones_like(compute)
    started, inwards, outwards, traffic, fill = 0 * one, 0 * one, 0 * one, 0 * one, 0 * one
    single = double = one * 0 + tables.fixed
    for _, operand in subject.copied:
        known = tables.operands[operand.key]
        count = passed = once = one
        for name in order:
            passed = passed * tables.trips[name]
            if name in known.loops:
                count = np.where(tables.trips[name] > 1, passed, count)
                once = once * tables.trips[name]
        size = known.size
        single = single + size
        if operand.kind == "local":
            double = double + size
            continue
        engine = engine_of(subject, operand)
        moved = known.swept * (count // once)
        double = double + size * np.where(count > 1, 2, 1)
        started = started + count * known.start
        if operand.kind == "output":
            outwards = outwards + count * known.runs + moved / engine.bytes_per_cycle
        else:
            inwards = inwards + count * known.runs + moved / engine.bytes_per_cycle
        fill = fill + known.start + known.runs + size / engine.bytes_per_cycle
        traffic = traffic + moved
    costs = subject.hierarchy.costs
    tiles: Any = prod((tables.trips[name] for name in order), start=one)
    both = np.maximum(inwards, outwards) if costs.both_ways else inwards + outwards
    ends = (inwards + outwards - both) / tiles  # nothing is stored beside the first load, nothing loaded last
    rows = [_Row(order, False, single, compute + costs.layer + costs.tile * tiles + started + both + ends, traffic)]
    if subject.hierarchy.overlaps and order:
        cycles = costs.layer + costs.tile_beside * tiles + np.maximum(compute, started + both) + fill
        rows.append(_Row(order, True, double, cycles * (1 + costs.doubt), traffic))
    return rows


def _near_front(used: Any, cycles: Any, traffic: Any, capacity: int, few: bool) -> list[int]:
    """Places worth walking: for each of some byte thresholds the best few by cycles and by bytes moved."""
    thresholds, most, others = (3, 3, 1) if few else (THRESHOLDS, 6, 1)
    by_bytes = np.lexsort((cycles, used))
    by_bytes = by_bytes[used[by_bytes] <= capacity]
    if not by_bytes.size:
        return []
    close = cycles[by_bytes] <= np.minimum.accumulate(cycles[by_bytes]) * 1.01
    lean = traffic[by_bytes] <= np.minimum.accumulate(traffic[by_bytes])
    nearest = by_bytes[close | lean]
    low, high = int(used[nearest[0]]), int(used[nearest[-1]])
    places: dict[int, None] = {}
    for bound in np.unique(np.geomspace(max(low, 1), max(high, 1), thresholds).astype(np.int64).clip(low, high)):
        inside = nearest[used[nearest] <= bound]
        by_cycles = inside[np.lexsort((traffic[inside], cycles[inside]))]
        near = by_cycles[cycles[by_cycles] <= cycles[by_cycles[0]] * 1.01]
        by_traffic = near[np.lexsort((cycles[near], traffic[near]))]
        leanest = inside[np.lexsort((cycles[inside], traffic[inside]))][:1]
        amount = most if bound == high else others
        for place in (*by_cycles[:amount], *by_traffic[: amount // 2], *leanest):
            places[int(place)] = None
    return list(places)
