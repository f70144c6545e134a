"""A schedule tile by tile as the cost model sees it: cycles of kernels, of copies and of waiting, bytes by way.

Kernels and waits of all tiles add up to `modelled_cycles`. Where copies run beside computing, a tile waits for what
its copies take longer than its kernels; the first loads and the last stores are waited for in full. Constants that are
streamed into the home level before every run of a layer are copied and waited for by its first tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from tilewright.ops.index.affine import Range
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.platform import Copy, Platform
from tilewright.tiling.hierarchy import Hierarchy, align_up, copy_cycles, hierarchy, whole_copy_cycles
from tilewright.tiling.schedule import Move, Step, TileSchedule
from tilewright.tiling.stages import nests_of
from tilewright.tiling.subject import CALL_CYCLES

POINT_CYCLES = 7
"""Of one point of a loop on one core, loads apart: counted in GVSoC on int8 sums of products."""


@dataclass(frozen=True)
class ModelledTile:
    """One tile: ranges of the cut loops, bytes by way such as `l2>l1`, modelled cycles."""

    ranges: Mapping[str, Range]
    copied_bytes: Mapping[str, int]
    kernel: int
    copy: int
    wait: int


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
        own = [-(-f.constant.values.size * f.constant.dtype.bits // 8) for f in slots if f.streamed]
        sizes.append(sum(align_up(size, levels.home.align) for size in own))
    if not any(sizes):
        return Fetched()
    cycles = sum(whole_copy_cycles(fetch, size) for size in sizes)
    return Fetched(f"{levels.rest.name}>{levels.home.name}", sum(sizes), cycles)


def copied_bytes(plan: ExecutionPlan, instruction: Instruction, platform: Platform) -> dict[str, int]:
    """Bytes of one run by way, such as `l2>l1`; none where the instruction runs whole."""
    found: dict[str, int] = {}
    schedule, levels = instruction.schedule, hierarchy(platform)
    if schedule is None or levels is None:
        return found
    streamed = fetched(plan, instruction, levels)
    if streamed.size_bytes:
        found[streamed.way] = streamed.size_bytes
    for step in schedule.steps():
        _add(found, schedule, step)
    return found


def modelled_cycles(plan: ExecutionPlan, instruction: Instruction, platform: Platform) -> int | None:
    """Cycles of one run of a schedule and of waiting for the constants that are streamed for it, or of a whole layer.

    None where one level holds everything, and for what another instruction computes or nothing does.
    """
    schedule, levels = instruction.schedule, hierarchy(platform)
    if levels is None or instruction.fused_into or instruction.sharing is not None:
        return None
    if schedule is None:
        return whole_cycles(instruction, levels)
    return schedule.cycles + fetched(plan, instruction, levels).cycles


def whole_cycles(instruction: Instruction, levels: Hierarchy) -> int:
    """Cycles of an instruction that one core computes where its operands lie: every point loads what it reads."""
    load = 4 / levels.home.bytes_per_cycle
    nests = nests_of(instruction.call)
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
    kernels = [_kernel_cycles(members, step, levels.cores) for step in steps]
    loads = [sum(_cycles(schedule, move, levels, levels.load) for move in step.loads) for step in steps]
    stores = [sum(_cycles(schedule, move, levels, levels.store) for move in step.stores) for step in steps]
    found = []
    for at, step in enumerate(steps):
        if schedule.double:
            beside = (loads[at + 1] if at + 1 < len(steps) else 0) + (stores[at - 1] if at else 0)
            wait = max(0.0, beside - kernels[at]) + (loads[0] if at == 0 else 0)
            wait += stores[at] if at + 1 == len(steps) else 0
        else:
            wait = loads[at] + stores[at]
        first = fetched(plan, instruction, levels) if at == 0 else Fetched()
        moved = {first.way: first.size_bytes} if first.size_bytes else {}
        _add(moved, schedule, step)
        ranges = {name: step.tiles[-1][name] for name in schedule.order}
        copied = ceil(loads[at] + stores[at]) + first.cycles
        found.append(ModelledTile(ranges, moved, ceil(kernels[at]), copied, ceil(wait) + first.cycles))
    return tuple(found)


def _add(found: dict[str, int], schedule: TileSchedule, step: Step) -> None:
    for moves, inwards in ((step.loads, True), (step.stores, False)):
        for move in moves:
            home = schedule.operand(move.key).home
            way = f"{home}>{schedule.compute_level}" if inwards else f"{schedule.compute_level}>{home}"
            found[way] = found.get(way, 0) + move.size_bytes


def _kernel_cycles(members: Sequence[Instruction], step: Step, cores: int) -> float:
    total = 0.0
    for member, tile, computed in zip(members, step.tiles, step.computed, strict=True):
        if computed:
            sizes = {name: high - low for name, (low, high) in tile.items()}
            found = member.kernel.cycles(member.call, sizes)
            points = prod(size for name, size in sizes.items() if "." not in name)
            total += float(found) if found is not None else CALL_CYCLES + -(-points // cores)
    return total


def _cycles(schedule: TileSchedule, move: Move, levels: Hierarchy, engine: Copy) -> float:
    if schedule.operand(move.key).home != levels.home.name:
        engine = levels.load_constants
    if not move.size_bytes:
        return 0.0
    return float(copy_cycles(engine, move.size_bytes, move.transfer.bursts, move.transfer.commands(engine.ranks)))
