"""A schedule tile by tile as the cost model sees it: cycles of kernels, of copies and of waiting, bytes by way.

Kernels and waits of all tiles add up to `modelled_cycles`. Where copies run beside computing, a tile waits for what
its copies take longer than its kernels; the first loads and the last stores are waited for in full. What the core that
drives the tiles takes for itself counts as waiting. Constants that are streamed into the home level before every run of
a layer are copied and waited for by its first tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from tilewright.ops.index.affine import Range
from tilewright.plan.actors import NOTHING, Actors, in_jobs, on_cores
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.platform import Copy, Platform
from tilewright.tiling.hierarchy import (
    Hierarchy,
    align_up,
    hierarchy,
    moving_cycles,
    start_cycles,
    whole_copy_cycles,
)
from tilewright.tiling.schedule import TileCopy, TileSchedule, TileStep
from tilewright.tiling.stages import nests_of
from tilewright.tiling.subject import CALL_CYCLES

POINT_CYCLES = 7
"""Of one point of a loop on one core, loads apart: counted in GVSoC on int8 sums of products."""

_Times = tuple[float, float]
"""Cycles to start copies, and of moving."""


@dataclass(frozen=True)
class ModelledTile:
    """One tile: ranges of the cut loops, bytes by way such as `l2>l1`, modelled cycles.

    `copy` are the tile's own copies. When they run is told by lists: one of `ahead` cycles ends where the kernel
    starts, one of `beside` starts `later` cycles behind that, one of `final` ends the tile. `before` of `wait` lie
    before the kernel. `actors` say what cores and engine do in the kernel's cycles.
    """

    ranges: Mapping[str, Range]
    copied_bytes: Mapping[str, int]
    kernel: int
    copy: int
    wait: int
    before: int = 0
    ahead: int = 0
    beside: int = 0
    later: int = 0
    final: int = 0
    actors: Actors = NOTHING


@dataclass(frozen=True)
class Fetched:
    """Constants that are streamed before every run of a layer: their way, bytes, and cycles of waiting for them."""

    way: str = ""
    size_bytes: int = 0
    cycles: int = 0


def fetched(plan: ExecutionPlan, instruction: Instruction, levels: Hierarchy) -> Fetched:
    """What is streamed for an instruction and for those that are fused into it; nothing where constants stay."""
    schedule, fetch = instruction.schedule, levels.fetch
    if schedule is None or fetch is None:
        return Fetched()
    by_name = {other.name: other for other in plan.instructions}
    sizes = []
    for stage in schedule.stages:
        slots = [plan.frozen_slots[index] for index in by_name[stage.node].frozen]
        own = [f.constant.size_bytes for f in slots if f.streamed]
        sizes.append(sum(align_up(size, levels.home.align) for size in own))
    if not any(sizes):
        return Fetched()
    cycles = sum(whole_copy_cycles(fetch, size) for size in sizes)
    return Fetched(f"{levels.rest.name}>{levels.home.name}", sum(sizes), cycles)


def copied_bytes(plan: ExecutionPlan, instruction: Instruction, platform: Platform) -> dict[str, int]:
    """Bytes of one run by way, such as `l2>l1`; none where the instruction runs whole."""
    moved: dict[str, int] = {}
    schedule, levels = instruction.schedule, hierarchy(platform)
    if schedule is None or levels is None:
        return moved
    streamed = fetched(plan, instruction, levels)
    if streamed.size_bytes:
        moved[streamed.way] = streamed.size_bytes
    for step in schedule.steps():
        _add(moved, schedule, step)
    return moved


def modelled_cycles(plan: ExecutionPlan, instruction: Instruction, platform: Platform) -> int | None:
    """Cycles of one run of a schedule and of waiting for the constants that are streamed for it, or of a whole layer.

    None where one level holds everything, and for what another instruction computes or nothing does.
    """
    schedule, levels = instruction.schedule, hierarchy(platform)
    if levels is None or instruction.fused_into or instruction.aliasing is not None:
        return None
    if schedule is None:
        return whole_cycles(instruction, levels)
    return schedule.cycles + fetched(plan, instruction, levels).cycles


def whole_cycles(instruction: Instruction, levels: Hierarchy) -> int:
    """Cycles of an instruction that one core computes where its operands lie: every point loads what it reads."""
    load = 4 / levels.home.bytes_per_cycle
    call, nests = instruction.call, nests_of(instruction.call)
    if call.operator is not None and call.operator.products is not None:
        return ceil(call.operator.products(call) * (POINT_CYCLES + 2 * load))
    if not nests:
        elements = sum(tensor.elements for tensor in instruction.call.outputs)
        return ceil(elements * (POINT_CYCLES + load))
    return ceil(sum(nest.points * (POINT_CYCLES + load * len(nest.ins)) for nest in nests))


def modelled_tiles(plan: ExecutionPlan, instruction: Instruction, platform: Platform) -> tuple[ModelledTile, ...]:
    """The tiles of an instruction's schedule, in order; none where it runs whole."""
    schedule, levels = instruction.schedule, hierarchy(platform)
    if schedule is None or levels is None:
        return ()
    by_name = {other.name: other for other in plan.instructions}
    members = [by_name[stage.node] for stage in schedule.stages]
    steps = list(schedule.steps())
    if schedule.starts:
        return (_sitting(schedule, members, steps[0], levels),)
    always = min(s for s in range(len(members)) if all(step.computed[s] for step in steps))
    kernels = [_kernel_cycles(members, step, levels, 0) for step in steps]
    loads = [_copies(schedule, step.loads, levels, levels.load) for step in steps]
    stores = [_copies(schedule, step.stores, levels, levels.store) for step in steps]
    lists = _lists(loads, stores, levels, 2 if schedule.double else 1)
    tiles = []
    for at, step in enumerate(steps):
        hidden = _kernel_cycles(members, step, levels, always)
        ahead = lists[at] if not schedule.double or at == 0 else 0.0
        beside = lists[at + 1] if schedule.double else 0.0
        final = lists[-1] if at + 1 == len(steps) else 0.0
        own = levels.costs.tile_beside if schedule.double else levels.costs.tile
        before = own + ahead + (levels.costs.layer if at == 0 else 0)
        wait = before + max(0.0, beside - hidden) + final
        first = fetched(plan, instruction, levels) if at == 0 else Fetched()
        moved = {first.way: first.size_bytes} if first.size_bytes else {}
        _add(moved, schedule, step)
        ranges = {name: step.tiles[-1][name] for name in schedule.order}
        tiles.append(
            ModelledTile(
                ranges, moved, ceil(kernels[at]), ceil(sum(loads[at]) + sum(stores[at])) + first.cycles,
                ceil(wait) + first.cycles, int(before) + first.cycles, int(ahead) + first.cycles, int(beside),
                int(kernels[at] - hidden), int(final), _actors(members, step, levels),
            )
        )  # fmt: skip
    return tuple(tiles)


def _sitting(schedule: TileSchedule, members: Sequence[Instruction], step: TileStep, levels: Hierarchy) -> ModelledTile:
    """A sitting as one tile: its copies run beside the cores, who wait for what the model says that is left."""
    kernels = ceil(_kernel_cycles(members, step, levels, 0))
    copies = sum(_copies(schedule, step.loads, levels, levels.load)) + sum(
        _copies(schedule, step.stores, levels, levels.store)
    )
    moved: dict[str, int] = {}
    _add(moved, schedule, step)
    wait = max(0, schedule.cycles - kernels)
    return ModelledTile(
        {}, moved, kernels, ceil(copies), wait, wait, 0, ceil(copies), 0, 0, _actors(members, step, levels)
    )


def _lists(loads: Sequence[_Times], stores: Sequence[_Times], levels: Hierarchy, late: int) -> list[float]:
    """Cycles of every list of copies: a tile's loads and the stores of the tile so many before."""
    nothing = [(0.0, 0.0)] * late
    together = zip([*loads, *nothing], [*nothing, *stores], strict=True)
    if levels.costs.both_ways:
        return [load[0] + store[0] + max(load[1], store[1]) for load, store in together]
    return [sum(load) + sum(store) for load, store in together]


def _add(bytes_of: dict[str, int], schedule: TileSchedule, step: TileStep) -> None:
    for moves, inwards in ((step.loads, True), (step.stores, False)):
        for move in moves:
            home = schedule.operand(move.key).home
            way = f"{home}>{schedule.compute_level}" if inwards else f"{schedule.compute_level}>{home}"
            bytes_of[way] = bytes_of.get(way, 0) + move.size_bytes


def _kernel_cycles(members: Sequence[Instruction], step: TileStep, levels: Hierarchy, first: int) -> float:
    """Cycles of the kernels of a tile from one stage on."""
    return sum(cycles for number, _, cycles in _kernels(members, step, levels) if number >= first)


def _kernels(
    members: Sequence[Instruction], step: TileStep, levels: Hierarchy
) -> Iterator[tuple[int, Mapping[str, int], float]]:
    """The stages that a tile computes: number, sizes of the loops, cycles."""
    for number, (member, tile) in enumerate(zip(members, step.tiles, strict=True)):
        if step.computed[number]:
            sizes = {name: high - low for name, (low, high) in tile.items()}
            cycles = member.kernel.cycles(member.call, sizes)
            points = prod(size for name, size in sizes.items() if "." not in name)
            total = float(cycles) if cycles is not None else CALL_CYCLES + -(-points // levels.cores)
            yield number, sizes, total + (levels.costs.kernel if number + 1 < len(members) else 0)


def _actors(members: Sequence[Instruction], step: TileStep, levels: Hierarchy) -> Actors:
    """What cores and engine do in the cycles of a tile's kernels."""
    now, told = 0.0, Actors()
    for number, sizes, cycles in _kernels(members, step, levels):
        kernel, call = members[number].kernel, members[number].call
        own = in_jobs(kernel.job_times(call, sizes), now, cycles) if kernel.gives_jobs else on_cores(now, cycles)
        told, now = told.then(own), now + cycles
    return told


def kernel_owners(plan: ExecutionPlan, instruction: Instruction) -> list[list[str]]:
    """By tile, whose work the cores are given, in order: a layer that it computes comes once for each phase or job.

    Empty where a kernel of jobs does not say how many they are.
    """
    if instruction.schedule is None:
        return []
    by_name = {other.name: other for other in plan.instructions}
    members = [by_name[stage.node] for stage in instruction.schedule.stages]
    owners = []
    for step in instruction.schedule.steps():
        tile_owners: list[str] = []
        for number, (member, tile) in enumerate(zip(members, step.tiles, strict=True)):
            if step.computed[number]:
                sizes = {name: high - low for name, (low, high) in tile.items()}
                times = member.kernel.job_times(member.call, sizes)
                if member.kernel.gives_jobs and times is None:
                    return []
                tile_owners += [member.name] * (member.kernel.phases if times is None else times.jobs)
        owners.append(tile_owners)
    return owners


def _copies(schedule: TileSchedule, moves: Sequence[TileCopy], levels: Hierarchy, engine: Copy) -> _Times:
    """Cycles to start copies and of moving."""
    start = moving = 0.0
    for move in moves:
        far = schedule.operand(move.key).home != levels.home.name
        through = levels.load_constants if far else engine
        if move.size_bytes:
            start += start_cycles(through, move.transfer.commands(through.ranks))
            moving += float(moving_cycles(through, move.size_bytes, move.transfer.bursts))
    return start, moving
