"""Placement of one memory level: problem in, offsets, peak and proved lower bound out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.errors import UsageError
from tilewright.memory.allocators.allocator import Allocator, Found, Task
from tilewright.memory.allocators.registry import find
from tilewright.memory.blame import too_small
from tilewright.memory.bound import live_bound
from tilewright.memory.check import check
from tilewright.memory.packing import Packing, components, normalise
from tilewright.memory.problem import LIVE_SET, SEARCH, PlacementProblem, PlacementSolution
from tilewright.memory.validate import validate


def place(
    problem: PlacementProblem,
    *,
    allocator: str = "auto",
    effort: float = 1.0,
    enough: int | None = None,
    level: str = "arena",
) -> PlacementSolution:
    """Offsets with the smallest peak that the allocator finds; the same input gives the same offsets on any machine.

    `effort` scales the deterministic work limits (1.0 is about a second per search that the allocator tries); a peak
    of `enough` bytes ends the search early; `level` names the memory in messages. Raises UsageError where the problem
    contradicts itself and DoesNotFit where the peak exceeds the capacity.
    """
    if effort < 0:
        raise UsageError(f"the effort is {effort}", why="it scales the work and cannot be negative")
    chosen = find(allocator)
    packing = normalise(problem)
    live = live_bound(packing)
    target = max(live, enough or 0)
    groups = [list(range(len(packing.items)))] if chosen.whole else components(packing)
    places = [0] * len(packing.items)
    bound, cut_off = live, False
    for needed, group, part in _hardest_first(packing, groups):
        result = _run(chosen, Task(part, needed, target, effort, problem.capacity))
        for index, offset in zip(group, result.offsets, strict=True):
            places[index] = offset
        bound, cut_off = max(bound, result.bound), cut_off or result.cut_off
        target = max(target, result.peak)
    offsets = _by_name(problem, packing, places)
    peak = max((offsets[buffer.name] + buffer.size for buffer in problem.buffers if buffer.size), default=0)
    proof = LIVE_SET if bound == live else SEARCH
    solution = PlacementSolution(offsets, peak, bound, chosen.name, proof, cut_off and peak > bound)
    if problem.capacity is not None and peak > problem.capacity:
        raise too_small(problem, solution, level)
    check(problem, solution)
    return solution


def _hardest_first(packing: Packing, groups: Sequence[list[int]]) -> list[tuple[int, list[int], Packing]]:
    """(bound, group, packing of it), the highest bound first: what that group needs, the others may use as well."""
    parts = [packing.select(group) for group in groups]
    bounded = [(live_bound(part), group, part) for group, part in zip(groups, parts, strict=True)]
    return sorted(bounded, key=lambda entry: -entry[0])


def _run(chosen: Allocator, task: Task) -> Found:
    """One allocator on one part."""
    return chosen.place(task) if task.packing.items else Found((), 0, 0)


def _by_name(problem: PlacementProblem, packing: Packing, places: Sequence[int]) -> Mapping[str, int]:
    """Offsets in bytes of all buffers, in the problem's order; buffers without bytes follow their pin or view."""
    roots = validate(problem)
    offsets: dict[str, int] = {}
    for item, offset in zip(packing.items, places, strict=True):
        for member in item.members:
            offsets[member.name] = (offset + member.shift) * packing.unit
    for buffer in problem.buffers:
        if buffer.size == 0:
            root, shift = roots[buffer.name]
            offsets[buffer.name] = buffer.pinned if buffer.pinned is not None else offsets.get(root, 0) + shift
    return {buffer.name: offsets[buffer.name] for buffer in problem.buffers}
