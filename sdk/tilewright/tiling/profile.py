"""A schedule tile by tile as the cost model sees it: cycles of kernels, of copies and of waiting, bytes by way.

Kernels and waits of all tiles add up to `TileSchedule.cycles`. Where copies run beside computing, a tile waits for what
its copies take longer than its kernels; the first loads and the last stores are waited for in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from tilewright.ops.index.affine import Range
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.platform import Copy, Platform
from tilewright.tiling.hierarchy import Hierarchy, copy_cycles, hierarchy
from tilewright.tiling.schedule import Move, Step, TileSchedule
from tilewright.tiling.subject import CALL_CYCLES


@dataclass(frozen=True)
class ModelledTile:
    """One tile: ranges of the cut loops, bytes by way such as `l2>l1`, modelled cycles."""

    ranges: Mapping[str, Range]
    copied_bytes: Mapping[str, int]
    kernel: int
    copy: int
    wait: int


def copied_bytes(schedule: TileSchedule) -> dict[str, int]:
    """Bytes of one run by way, such as `l2>l1`."""
    found: dict[str, int] = {}
    for step in schedule.steps():
        _add(found, schedule, step)
    return found


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
        moved: dict[str, int] = {}
        _add(moved, schedule, step)
        ranges = {name: step.tiles[-1][name] for name in schedule.order}
        found.append(ModelledTile(ranges, moved, ceil(kernels[at]), ceil(loads[at] + stores[at]), ceil(wait)))
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
