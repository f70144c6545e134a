"""From a plan to a placed plan: storages and scratch become buffers of one placement problem per level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tilewright.intervals import Span, covered
from tilewright.memory.bound import live_bounds
from tilewright.memory.given import given_placement
from tilewright.memory.packing import normalise
from tilewright.memory.place import place
from tilewright.memory.placed import PlacedPlan, Region
from tilewright.memory.problem import Buffer, Overlap, PlacementProblem, View
from tilewright.memory.states import STATE, place_states, state_regions
from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.exclusive import stretches
from tilewright.plan.guards import guards_of
from tilewright.plan.liveness import Storage, storages
from tilewright.plan.overlap import overlaps
from tilewright.plan.plan import ExecutionPlan, FrozenSlot
from tilewright.platform import Feature, MemoryLevel, Platform
from tilewright.sizes import align_up


def place_plan(
    plan: ExecutionPlan,
    platform: Platform,
    *,
    io: str = "arena",
    allocator: str = "auto",
    capacity: int | None = None,
    in_place: bool = True,
    overlap: bool = True,
    effort: float = 1.0,
    given: Mapping[str, int] | None = None,
) -> PlacedPlan:
    """Place activations, inputs, outputs and scratch in the compute level; DoesNotFit where `capacity` is too small.

    Unless `io` is "arena" inputs and outputs are the caller's and take no arena bytes. States lie beside the arena.
    `given` offsets in bytes, by name of a buffer, are checked and taken instead of the allocator's; UsageError where
    they are wrong.
    """
    level = _home(plan, platform)
    groups, inside = _stored(plan, platform, io, in_place)
    states = [group for group in groups if group.kind == STATE]
    problem = _problem(plan, inside, level, overlap, capacity)
    if given is None:
        solution = place(problem, allocator=allocator, effort=effort)
    else:
        solution = given_placement(problem, given, level.name)
    slot_offsets = {
        member: solution.offsets[_name(group)] + view_shift(plan, member)
        for group in inside
        for member in group.members
    }
    state_offsets, state_bytes = place_states(plan, states, level.align)
    return PlacedPlan(
        plan=plan,
        level=level.name,
        io=io,
        arena_bytes=align_up(solution.peak, level.align),
        align=level.align,
        slot_offsets=slot_offsets,
        scratch_offsets={i.index: solution.offsets[f"scratch{i.index}"] for i in plan.instructions if i.scratch_bytes},
        storages=groups,
        regions=(
            *_regions(plan, inside, solution.offsets, level.name),
            *state_regions(plan, states, state_offsets, align_up(solution.peak, level.align), level.name),
        ),
        problem=problem,
        solution=solution,
        live_set=_live_set(inside, level.align),
        lower_bound=solution.lower_bound,
        frozen_offsets={f.index: solution.offsets[_copy_name(f)] for f in copied_constants(plan, level.name)},
        state_offsets=state_offsets,
        state_bytes=state_bytes,
    )


def least_peak(
    plan: ExecutionPlan, platform: Platform, *, io: str = "arena", in_place: bool = True, overlap: bool = True
) -> tuple[int, int]:
    """Bytes that no placement of the plan stays below, and at how many instructions at least they are then in use."""
    problem = _problem(plan, _stored(plan, platform, io, in_place)[1], _home(plan, platform), overlap)
    bounds = live_bounds(normalise(problem))
    most = max(bounds.values(), default=0)
    return most, sum(bound == most for bound in bounds.values())


def _home(plan: ExecutionPlan, platform: Platform) -> MemoryLevel:
    return next(candidate for candidate in platform.memory if candidate.name == (plan.home or platform.compute_in))


def _stored(
    plan: ExecutionPlan, platform: Platform, io: str, in_place: bool
) -> tuple[tuple[Storage, ...], list[Storage]]:
    """All storages of a plan, and those that lie in the arena."""
    outside = frozenset((*plan.input_slots, *plan.output_slots)) if io != "arena" else frozenset()
    guards = guards_of(plan) if platform.can(Feature.SKIPPING) else ()
    groups = storages(plan, in_place=in_place, pinned=outside, guards=guards)
    return groups, [group for group in groups if group.kind != STATE and not outside.intersection(group.members)]


def _problem(
    plan: ExecutionPlan, inside: Sequence[Storage], level: MemoryLevel, overlap: bool, capacity: int | None = None
) -> PlacementProblem:
    buffers = (*_buffers(plan, inside, level.align), *_copies(plan, level.align, level.name))
    return PlacementProblem(buffers, capacity, _permitted(plan, inside) if overlap else (), _views(inside))


def _name(group: Storage) -> str:
    return f"slot{group.root}"


def _names(group: Storage) -> tuple[str, ...]:
    """The names of the buffers of a storage: one for every stretch of its life."""
    return (_name(group), *(f"{_name(group)}.{number}" for number in range(1, len(_stretches(group)))))


def _stretches(group: Storage) -> tuple[tuple[int, int], ...]:
    return stretches(group.first, group.last, group.pauses)


def _buffers(plan: ExecutionPlan, groups: Sequence[Storage], align: int) -> tuple[Buffer, ...]:
    buffers = [
        Buffer(name, low, high, align_up(max(group.size_bytes, 1), align), align)
        for group in groups
        for name, (low, high) in zip(_names(group), _stretches(group), strict=True)
    ]
    for instruction in plan.instructions:
        if instruction.scratch_bytes:
            size = align_up(instruction.scratch_bytes, align)
            buffers.append(Buffer(f"scratch{instruction.index}", instruction.index, instruction.index + 1, size, align))
    return tuple(buffers)


def _permitted(plan: ExecutionPlan, groups: Sequence[Storage]) -> tuple[Overlap, ...]:
    return tuple(Overlap(_names(earlier)[-1], _name(later), gap) for earlier, later, gap in overlaps(plan, groups))


def copied_constants(plan: ExecutionPlan, level: str) -> tuple[FrozenSlot, ...]:
    """Constants with a copy in the level of the activations."""
    return tuple(frozen for frozen in plan.frozen_slots if frozen.home == level)


def _copy_name(frozen: FrozenSlot) -> str:
    return f"constant{frozen.index}"


def _copies(plan: ExecutionPlan, align: int, level: str) -> list[Buffer]:
    """Copies of constants: fetched before their instruction, or there from the start to the end."""
    buffers = []
    lives = _lives_of_copies(plan)
    for frozen in copied_constants(plan, level):
        first, end = lives(frozen)
        own_align = max(align, frozen.constant.align)
        buffers.append(
            Buffer(_copy_name(frozen), first, end + 1, align_up(max(frozen.constant.size_bytes, 1), align), own_align)
        )
    return buffers


def _lives_of_copies(plan: ExecutionPlan) -> Callable[[FrozenSlot], tuple[int, int]]:
    """First and last instruction of the copy of a constant."""
    at = {i.name: i.index for i in plan.instructions}
    last = {i.fused_into: max(at[i.fused_into], i.index) for i in plan.instructions if i.fused_into}

    def lives(frozen: FrozenSlot) -> tuple[int, int]:
        if not frozen.streamed:
            return 0, len(plan.instructions) - 1
        time = at[frozen.node]
        return time, last.get(plan.instructions[time].fused_into, time)

    return lives


def _views(groups: Sequence[Storage]) -> tuple[View, ...]:
    """Storages that lie in another one's bytes, and lives that go on after a pause."""
    views = [View(_name(g), f"slot{g.within[0]}", g.within[1]) for g in groups if g.within is not None]
    return (*views, *(View(name, _name(g), 0, resumes=True) for g in groups for name in _names(g)[1:]))


def _live_set(groups: Sequence[Storage], align: int) -> int:
    """Most bytes of storages alive at once; those that several share count once."""
    spans = []
    for group in groups:
        home, start = group.within or (group.root, 0)
        end = start + align_up(max(group.size_bytes, 1), align)
        spans += [Span(home, start, end, low, high) for low, high in _stretches(group)]
    return max(covered(spans).values(), default=0)


def _regions(
    plan: ExecutionPlan, groups: Sequence[Storage], offsets: Mapping[str, int], level: str
) -> tuple[Region, ...]:
    kinds = {"input": "io", "output": "io", "io": "io", "activation": "activations"}
    regions = [
        Region(plan.slots[g.root].tensor.name, level, offsets[_name(g)], g.size_bytes, low, high - 1, kinds[g.kind])
        for g in groups
        for low, high in _stretches(g)
    ]
    for i in plan.instructions:
        if i.scratch_bytes:
            name = f"scratch of {i.name}"
            regions.append(
                Region(name, level, offsets[f"scratch{i.index}"], i.scratch_bytes, i.index, i.index, "scratch")
            )
    lives = _lives_of_copies(plan)
    for frozen in copied_constants(plan, level):
        kind = "copy_buffers" if frozen.streamed else "constants"
        regions.append(
            Region(
                copy_region(frozen),
                level,
                offsets[_copy_name(frozen)],
                frozen.constant.size_bytes,
                *lives(frozen),
                kind,
            )
        )
    return tuple(regions)


def copy_region(frozen: FrozenSlot) -> str:
    """What the report calls the copy of a constant."""
    return f"{frozen.constant.name} of {frozen.node}"
