"""Checks a placement against its problem, sharing no code with what places."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tilewright.errors import TilewrightError
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
    owner = {buffer.name: buffer.name for buffer in problem.buffers}
    for view in problem.views:
        expected = offsets[view.of] + view.shift
        if offsets[view.name] != expected:
            raise WrongPlacement(
                f"view '{view.name}' lies at {offsets[view.name]}",
                why=f"'{view.of}' puts it at {expected}",
                tensor=view.name,
            )
        old, new = owner[view.name], owner[view.of]
        for name in owner:
            if owner[name] == old:
                owner[name] = new
    return owner


def _check_pairs(problem: PlacementProblem, offsets: Mapping[str, int], owner: Mapping[str, str]) -> None:
    """No two buffers that are alive together share a byte, unless the problem permits it."""
    gaps = {(overlap.earlier, overlap.later): overlap.gap for overlap in problem.overlaps}
    alive: list[Buffer] = []
    for buffer in sorted((b for b in problem.buffers if b.size > 0), key=lambda b: b.lower):
        alive = [other for other in alive if other.upper > buffer.lower]
        start = offsets[buffer.name]
        for other in alive:
            low = offsets[other.name]
            if start + buffer.size <= low or low + other.size <= start or owner[other.name] == owner[buffer.name]:
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
        alive.append(buffer)


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
        raise WrongPlacement(f"the lower bound is said to be proved by '{solution.bound_by}'", why="nobody knows that")


def _most_alive(problem: PlacementProblem, owner: Mapping[str, str]) -> int:
    """Bytes that must be alive at once: rounded to the common alignment, less what overlaps and padding can save."""
    buffers = [b for b in problem.buffers if b.size > 0]
    if not buffers:
        return 0
    grain = math.gcd(*(b.align for b in buffers))
    most = max((b.pinned + b.size for b in buffers if b.pinned is not None), default=0)
    base = dict.fromkeys(owner, 0)
    for _ in problem.views:
        for view in problem.views:
            base[view.name] = base[view.of] + view.shift
    permitted: dict[str, list[tuple[str, int]]] = {}
    for overlap in problem.overlaps:
        permitted.setdefault(overlap.later, []).append((overlap.earlier, overlap.gap))
    alive: list[Buffer] = []
    waiting = sorted(buffers, key=lambda b: b.lower, reverse=True)
    for moment in sorted({b.lower for b in buffers}):
        alive = [b for b in alive if b.upper > moment]
        while waiting and waiting[-1].lower == moment:
            alive.append(waiting.pop())
        spans: dict[str, list[tuple[int, int]]] = {}
        for b in alive:
            spans.setdefault(owner[b.name], []).append((base[b.name], base[b.name] + _rounded(b.size, grain)))
        used = sum(_union(parts) for parts in spans.values())
        idle = max(_rounded(b.size, grain) - b.size for b in alive)
        most = max(most, used - _shared(alive, permitted, grain) - idle)
    return most


def _shared(alive: list[Buffer], permitted: Mapping[str, list[tuple[str, int]]], grain: int) -> int:
    """Bytes that permitted overlaps between buffers alive together can share at most."""
    sizes = {b.name: _rounded(b.size, grain) for b in alive}
    by_later: dict[str, int] = {}
    by_earlier: dict[str, int] = {}
    for later in sizes:
        for earlier, gap in permitted.get(later, ()):
            if earlier in sizes:
                shared = max(0, min(sizes[earlier], sizes[later] - max(0, _rounded(gap, grain))))
                by_later[later] = by_later.get(later, 0) + shared
                by_earlier[earlier] = by_earlier.get(earlier, 0) + shared
    return min(sum(min(shared, sizes[name]) for name, shared in shares.items()) for shares in (by_later, by_earlier))


def _rounded(size: int, grain: int) -> int:
    """A size rounded up to whole grains."""
    return -(-size // grain) * grain


def _union(parts: list[tuple[int, int]]) -> int:
    """Bytes covered by intervals."""
    total, end = 0, 0
    for low, high in sorted(parts):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total
