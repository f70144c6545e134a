"""Checks a placement against its problem, sharing no code with what places."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import pairwise

from tilewright.errors import TilewrightError
from tilewright.intervals import Shelves
from tilewright.memory.problem import LIVE_SET, SEARCH, Buffer, PlacementProblem, PlacementSolution


class WrongPlacement(TilewrightError):
    """A placement breaks the problem that it claims to solve; a bug of the allocator or a damaged file."""


def check(problem: PlacementProblem, solution: PlacementSolution) -> None:
    """Raises WrongPlacement with a sentence unless every byte of the solution is right.

    Every buffer has one place, aligned, at its pin, on the bytes that it views; no two live buffers overlap but where
    permitted; the peak is the highest byte used and within the capacity; the bound is what it says it is.
    """
    offsets = solution.offsets
    named = {buffer.name: buffer for buffer in problem.buffers}
    for name in named:
        if name not in offsets:
            raise WrongPlacement(f"buffer '{name}' has no offset", tensor=name)
    for name in offsets:
        if name not in named:
            raise WrongPlacement(f"offset of '{name}', which is no buffer of the problem", tensor=name)
    for buffer in problem.buffers:
        _check_alone(buffer, offsets[buffer.name])
    owner = _check_views(problem, offsets)
    _check_pairs(problem, offsets, owner)
    peak = max((offsets[b.name] + b.size for b in problem.buffers if b.size > 0), default=0)
    if solution.peak != peak:
        raise WrongPlacement(f"the peak is said to be {solution.peak}", why=f"the highest byte used ends at {peak}")
    if problem.capacity is not None and peak > problem.capacity:
        raise WrongPlacement(f"the peak is {peak}", why=f"the capacity is {problem.capacity}")
    _check_bound(problem, solution, owner)


def _check_alone(buffer: Buffer, offset: int) -> None:
    """A place that is wrong by itself."""
    if offset < 0:
        raise WrongPlacement(f"buffer '{buffer.name}' lies at {offset}", why="offsets start at 0", tensor=buffer.name)
    if offset % buffer.align:
        raise WrongPlacement(
            f"buffer '{buffer.name}' lies at {offset}", why=f"its alignment is {buffer.align}", tensor=buffer.name
        )
    if buffer.pinned is not None and offset != buffer.pinned:
        raise WrongPlacement(
            f"buffer '{buffer.name}' lies at {offset}", why=f"it is pinned at {buffer.pinned}", tensor=buffer.name
        )


def _check_views(problem: PlacementProblem, offsets: Mapping[str, int]) -> dict[str, str]:
    """The buffer that owns the bytes of each one, after checking that views lie on what they show."""
    shown = {view.name: view.of for view in problem.views}
    for view in problem.views:
        expected = offsets[view.of] + view.shift
        if offsets[view.name] != expected:
            raise WrongPlacement(
                f"view '{view.name}' lies at {offsets[view.name]}",
                why=f"'{view.of}' puts it at {expected}",
                tensor=view.name,
            )
    return {buffer.name: _end_of(buffer.name, shown)[-1] for buffer in problem.buffers}


def _end_of(name: str, shown: Mapping[str, str]) -> list[str]:
    """The buffers from one to the owner of its bytes, view by view."""
    path = [name]
    while path[-1] in shown and len(path) <= len(shown):
        path.append(shown[path[-1]])
    return path


def _check_pairs(problem: PlacementProblem, offsets: Mapping[str, int], owner: Mapping[str, str]) -> None:
    """No two buffers that are alive together share a byte, unless the problem permits it."""
    gaps = {(overlap.earlier, overlap.later): overlap.gap for overlap in problem.overlaps}
    bytes_in_use, dying = Shelves(), list[tuple[int, int]]()
    buffers = sorted((b for b in problem.buffers if b.size > 0), key=lambda b: b.lower)
    for number, buffer in enumerate(buffers):
        while dying and dying[0][0] <= buffer.lower:
            gone = heapq.heappop(dying)[1]
            low = offsets[buffers[gone].name]
            bytes_in_use.remove(low, low + buffers[gone].size, gone)
        start = offsets[buffer.name]
        for place in sorted(bytes_in_use.meeting(start, start + buffer.size)):
            other = buffers[place]
            low = offsets[other.name]
            if owner[other.name] == owner[buffer.name]:
                continue
            before, after = gaps.get((other.name, buffer.name)), gaps.get((buffer.name, other.name))
            if before is not None and start + before <= low:
                continue
            if after is not None and low + after <= start:
                continue
            raise WrongPlacement(
                f"'{other.name}' at [{low}, {low + other.size}) and '{buffer.name}' at "
                f"[{start}, {start + buffer.size}) share bytes",
                why=f"both are alive at step {buffer.lower}"
                + ("" if before is None and after is None else ", and the permitted overlap asks for another order"),
                tensor=buffer.name,
            )
        heapq.heappush(dying, (buffer.upper, number))
        bytes_in_use.add(start, start + buffer.size, number)


def _check_bound(problem: PlacementProblem, solution: PlacementSolution, owner: Mapping[str, str]) -> None:
    """The bound is at most the peak, and what it claims to rest on."""
    bound = solution.lower_bound
    if bound > solution.peak:
        raise WrongPlacement(f"the lower bound is said to be {bound}", why=f"the peak is {solution.peak}")
    live = _most_alive(problem, owner)
    if solution.bound_by == LIVE_SET and bound != live:
        raise WrongPlacement(f"the lower bound is said to be {bound} by the live set", why=f"the live set needs {live}")
    if solution.bound_by == SEARCH and bound <= live:
        raise WrongPlacement(f"the lower bound is said to be {bound} by search", why=f"the live set alone needs {live}")
    if solution.bound_by not in (LIVE_SET, SEARCH):
        raise WrongPlacement(f"the lower bound is said to be proved by '{solution.bound_by}'", why="that is unknown")


def _most_alive(problem: PlacementProblem, owner: Mapping[str, str]) -> int:
    """Bytes that must be alive at once: rounded to the common alignment, less what overlaps and padding can save."""
    buffers = [b for b in problem.buffers if b.size > 0]
    if not buffers:
        return 0
    grain = math.gcd(*(b.align for b in buffers))
    most = max((b.pinned + b.size for b in buffers if b.pinned is not None), default=0)
    shown, shifts = ({v.name: v.of for v in problem.views}, {v.name: v.shift for v in problem.views})
    homes: dict[str, list[tuple[int, int, Buffer]]] = {}
    for b in buffers:
        base = sum(shifts.get(name, 0) for name in _end_of(b.name, shown))
        homes.setdefault(owner[b.name], []).append((base, base + _rounded(b.size, grain), b))
    used: dict[int, int] = {}
    for parts in homes.values():
        for size, lower, upper in _layers(parts):
            used[lower] = used.get(lower, 0) + size
            used[upper] = used.get(upper, 0) - size
    shared = _shared(problem, grain)
    idle: list[tuple[int, int]] = []
    waiting = sorted(buffers, key=lambda b: b.lower, reverse=True)
    total = 0
    for moment in sorted({*used, *(b.lower for b in buffers)}):
        total += used.get(moment, 0)
        if not waiting or waiting[-1].lower > moment:
            continue
        while waiting and waiting[-1].lower == moment:
            b = waiting.pop()
            heapq.heappush(idle, (b.size - _rounded(b.size, grain), b.upper))
        while idle[0][1] <= moment:
            heapq.heappop(idle)
        most = max(most, total - shared.get(moment, 0) + idle[0][0])
    return most


def _layers(parts: list[tuple[int, int, Buffer]]) -> Iterable[tuple[int, int, int]]:
    """(bytes, first moment, end) for the bytes of one owner: every stretch of address with the times of its use."""
    begun: dict[int, list[Buffer]] = {}
    ended: dict[int, list[Buffer]] = {}
    for low, high, buffer in parts:
        begun.setdefault(low, []).append(buffer)
        ended.setdefault(high, []).append(buffer)
    here: dict[str, Buffer] = {}
    edges = sorted({*begun, *ended})
    for edge, following in pairwise(edges):
        for buffer in ended.get(edge, ()):
            del here[buffer.name]
        here.update((buffer.name, buffer) for buffer in begun.get(edge, ()))
        times = sorted((buffer.lower, buffer.upper) for buffer in here.values())
        while times:
            lower, upper = times.pop(0)
            while times and times[0][0] <= upper:
                upper = max(upper, times.pop(0)[1])
            yield following - edge, lower, upper


def _shared(problem: PlacementProblem, grain: int) -> dict[int, int]:
    """Bytes that permitted overlaps between buffers alive together can share at most, by moment of a birth."""
    named = {b.name: b for b in problem.buffers if b.size > 0}
    births = sorted({b.lower for b in named.values()})
    by_later: dict[tuple[int, str], int] = {}
    by_earlier: dict[tuple[int, str], int] = {}
    for overlap in problem.overlaps:
        earlier, later = named.get(overlap.earlier), named.get(overlap.later)
        if earlier is None or later is None:
            continue
        sizes = _rounded(earlier.size, grain), _rounded(later.size, grain)
        shared = max(0, min(sizes[0], sizes[1] - max(0, _rounded(overlap.gap, grain))))
        at = bisect_left(births, max(earlier.lower, later.lower))
        for moment in births[at : bisect_left(births, min(earlier.upper, later.upper))]:
            for name, sums in ((later.name, by_later), (earlier.name, by_earlier)):
                sums[moment, name] = sums.get((moment, name), 0) + shared
    totals: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for sums, total in zip((by_later, by_earlier), totals, strict=True):
        for (moment, name), shared in sums.items():
            total[moment] = total.get(moment, 0) + min(shared, _rounded(named[name].size, grain))
    return {moment: min(shared, totals[1][moment]) for moment, shared in totals[0].items()}


def _rounded(size: int, grain: int) -> int:
    """A size rounded up to whole grains."""
    return -(-size // grain) * grain
