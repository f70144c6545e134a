"""What a layer in tiles does over time, and what the level of tiles holds while it runs: of the plan, in the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tilewright.memory.needs import BufferKind, BufferReport, MemoryReport
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.plan.profile import modelled_tiles
from tilewright.platform import Platform
from tilewright.report.tile_times import TimelineReport
from tilewright.tiling.schedule import Operand, TileSchedule

_KINDS: Mapping[str, BufferKind] = {"local": "activation", "constant": "constant"}


def timeline(plan: ExecutionPlan, instruction: Instruction, platform: Platform) -> TimelineReport | None:
    """When cores and engine compute and when copies run, as the cost model has it; None for a layer that runs whole."""
    cores: list[int] = []
    engine: list[int] = []
    copies: list[int] = []
    now = 0
    for tile in modelled_tiles(plan, instruction, platform):
        start = now + tile.before
        end = now + tile.kernel + tile.wait
        cores += (start + cycle for cycle in tile.actors.cores)
        engine += (start + cycle for cycle in tile.actors.engine)
        for begin, cycles in ((start - tile.ahead, tile.ahead), (start + tile.later, tile.beside)):
            if cycles:
                begin = max(begin, copies[-1] if copies else 0)
                copies += (begin, begin + cycles)
        if tile.final:
            copies += (end - tile.final, end)
        now = end
    if not cores:
        return None
    return TimelineReport(tuple(cores), tuple(copies), tuple(engine), _unit(plan, instruction) if engine else "")


def _unit(plan: ExecutionPlan, instruction: Instruction) -> str:
    """The engine that takes jobs of a layer, or of one that is computed with it."""
    assert instruction.schedule is not None
    kernels = [other.kernel for other in plan.instructions if other.name in instruction.schedule.nodes]
    return " and ".join(sorted({kernel.engine for kernel in kernels if kernel.gives_jobs}))


def with_tile_buffers(memory: Mapping[str, MemoryReport], plan: ExecutionPlan) -> dict[str, MemoryReport]:
    """The levels, that of tiles with its buffers: constants that stay for good, all others while their layer runs."""
    levels = dict(memory)
    for name, level in memory.items():
        buffers = tuple(_buffers(plan, name))
        if buffers and not level.buffers:
            levels[name] = replace(level, buffers=buffers)
    return levels


def _buffers(plan: ExecutionPlan, level: str) -> Iterator[BufferReport]:
    """Every buffer of the level of tiles; one of depth 2 is two, `name` and `name (2)`."""
    last = max(len(plan.instructions) - 1, 0)
    number = {instruction.name: instruction.index for instruction in plan.instructions}
    for instruction in plan.instructions:
        schedule = instruction.schedule
        if schedule is None or schedule.compute_level != level:
            continue
        first = min(number[stage.node] for stage in schedule.stages)
        for node, operand in _once_each(schedule):
            stays = operand.kind == "constant" and operand.home == level
            span = (0, last) if stays else (first, instruction.index)
            if schedule.starts:
                one, other = schedule.lives[operand.key]
                span = number[schedule.nodes[one]], number[schedule.nodes[other]]
            kind = _KINDS.get(operand.kind, "copy_buffer") if stays or operand.kind == "local" else "copy_buffer"
            for buffer in range(operand.depth):
                first_name = operand.tensor + (f" of {node}" if operand.kind == "constant" else "")
                name, copy_of = (f"{first_name} ({buffer + 1})", first_name) if buffer else (first_name, "")
                yield BufferReport(name, operand.offset + buffer * operand.size, operand.size, *span, kind, copy_of)
        for stage in schedule.stages:
            if stage.scratch_bytes:
                yield BufferReport(
                    f"scratch of {stage.node}", stage.scratch_offset, stage.scratch_bytes, number[stage.node],
                    number[stage.node], "scratch",
                )  # fmt: skip


def _once_each(schedule: TileSchedule) -> list[tuple[str, Operand]]:
    """Operands with bytes of their own and their nodes; a local result has the key of the stage that makes it."""
    operands: dict[str, tuple[str, Operand]] = {}
    for stage in schedule.stages:
        for operand in stage.operands:
            if operand.size:
                operands.setdefault(operand.key, (stage.node, operand))
    return list(operands.values())
