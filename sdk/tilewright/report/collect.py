"""From the values of all stages to the report: counts each byte once and takes nothing from anywhere else."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from tilewright.binding.graph import BoundGraph
from tilewright.memory.placed import PlacedPlan, Region
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.quantised.numerics import quantised_numerics
from tilewright.passes.driver import PassReport as PassResult
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.platform import MemoryLevel
from tilewright.report.build import (
    BufferReport,
    LayerReport,
    MemoryReport,
    ModelReport,
    PassReport,
    QuantisationReport,
    Report,
    ResultReport,
    TensorReport,
    ToolReport,
)
from tilewright.tiling.fall_back import gave_way
from tilewright.tiling.profile import copied_bytes, modelled_cycles
from tilewright.version import VERSION

BUFFER_KINDS: Mapping[str, str] = {
    "activations": "activation",
    "io": "io",
    "scratch": "scratch",
    "copy_buffers": "copy_buffer",
    "constants": "constant",
}
VIEW = "view"
"""What stands for the kernel of an instruction whose operands and results are the same bytes."""


def multiply_accumulates(call: Call) -> int:
    """Points of the sums of products in the operator's index maps; 0 for operators without any."""
    return sum(n.points for n in call.nests if n.combine.name == "add" and n.body.name.startswith("mul"))


def tensor_report(name: str, tensor: Tensor) -> TensorReport:
    """An input or output as the report shows it."""
    quantisation = tensor.quantisation if tensor.quantisation and tensor.quantisation.axis is None else None
    return TensorReport(
        name=name,
        dtype=tensor.dtype.value,
        shape=tensor.shape,
        bytes=tensor.size_bytes,
        scale=quantisation.scale[0] if quantisation else None,
        zero_point=quantisation.zero_point[0] if quantisation else None,
    )


def model_report(model: Model, loaded: Model, graph: BoundGraph, float_tensors: Sequence[str]) -> ModelReport:
    """The network: `loaded` as it came, `model` as it is compiled."""
    return ModelReport(
        name=model.name,
        sha256=model.sha256,
        nodes=len(loaded.nodes),
        macs=sum(multiply_accumulates(bound.call) for bound in graph.nodes),
        parameter_bytes=sum(loaded.tensors[name].size_bytes for name in loaded.constants),
        inputs=tuple(tensor_report(name, model.tensors[name]) for name in model.inputs),
        outputs=tuple(tensor_report(name, model.tensors[name]) for name in model.outputs),
        quantisation=QuantisationReport(model.quantisation_form, tuple(float_tensors)),
    )


def numerics_of(call: Call, declared: str) -> str:
    """What the kernel declares; for an exact one what was proved of this very layer, where it requantises."""
    return (quantised_numerics(call) or declared) if declared == "exact" else declared


def layer_reports(placed: PlacedPlan, graph: BoundGraph) -> tuple[LayerReport, ...]:
    """One row per instruction."""
    plan, platform, instead = placed.plan, graph.platform, gave_way(graph)
    return tuple(
        LayerReport(
            name=i.name,
            op=i.call.node.op,
            kernel=i.kernel.name if i.aliasing is None else VIEW,
            numerics=numerics_of(i.call, i.kernel.numerics),
            tile=dict(i.schedule.sizes) if i.schedule else None,
            tiles=i.schedule.tiles if i.schedule else 1,
            macs=multiply_accumulates(i.call),
            copied_bytes=copied_bytes(plan, i, platform),
            loaded_bytes=None,
            stored_bytes=None,
            operand_bytes=operand_bytes(plan, i),
            fused_into=i.fused_into,
            modelled_cycles=modelled_cycles(plan, i, platform),
            engine=i.kernel.engine if i.aliasing is None else "",
            results=tuple(_result(placed, slot) for slot in i.outputs),
            instead_of=instead.get(i.name, ""),
            nodes=tuple(call.node.name for call in i.call.chain),
        )
        for i in plan.instructions
    )


def _result(placed: PlacedPlan, slot: int) -> ResultReport:
    tensor = placed.plan.slots[slot].tensor
    return ResultReport(tensor.name, tensor.size_bytes, placed.level, placed.slot_offsets.get(slot))


def operand_bytes(plan: ExecutionPlan, instruction: Instruction) -> int:
    """Bytes of an instruction's operands, results and constants, each once."""
    slots = {slot for slot in (*instruction.inputs, *instruction.outputs) if slot >= 0}
    constants = (plan.frozen_slots[index].constant for index in instruction.frozen)
    return sum(plan.slots[slot].tensor.size_bytes for slot in slots) + sum(
        constant.size_bytes for constant in constants
    )


def memory_reports(
    placed: PlacedPlan, levels: Sequence[MemoryLevel], constant_bytes: int, table_bytes: int = 0
) -> dict[str, MemoryReport]:
    """Per level the worst moment decomposed; levels that hold nothing are reported as such.

    `table_bytes` of `constant_bytes` are tables of tiles and copies.
    """
    found = {}
    readonly = any(level.readonly for level in levels)
    fast = _tile_level(placed)
    for level in levels:
        rests = level.readonly or (level.name == placed.level and not readonly)
        if level.name == placed.level:
            row = _compute_level(placed, level)
        elif level.name == fast:
            row = _tile_buffers(placed, level)
        else:
            row = MemoryReport(level.size, level.readonly, 0, live_set=None, lower_bound=None, status=None)
        if rests:
            row = replace(
                row, worst_case=row.worst_case + constant_bytes,
                constants=row.constants + constant_bytes - table_bytes, tables=table_bytes,
            )  # fmt: skip
        found[level.name] = row
    return found


def _tile_level(placed: PlacedPlan) -> str:
    """The level of tiles, "" where nothing is tiled."""
    return next((i.schedule.compute_level for i in placed.plan.instructions if i.schedule is not None), "")


def _tile_buffers(placed: PlacedPlan, level: MemoryLevel) -> MemoryReport:
    """The level of tiles: constants that stay there, and beside them the buffers of the layer that needs most."""
    schedules = [i.schedule for i in placed.plan.instructions if i.schedule is not None]
    worst = max(schedules, key=lambda schedule: schedule.compute_bytes)
    pinned, local, spans = dict[tuple[str, str], int](), dict[int, int](), dict[int, int]()
    for schedule in schedules:
        for stage in schedule.stages:
            for operand in stage.operands:
                size = operand.size * operand.depth
                if operand.kind == "constant" and operand.home == level.name:
                    pinned[stage.node, operand.key] = size
                elif schedule is worst and size:
                    (local if operand.kind == "local" else spans)[operand.offset] = size
    used, stacks = placed.plan.compute_bytes, placed.plan.stack_bytes
    moved = sum(size for offset, size in spans.items() if offset not in local)
    scratch = max(stage.scratch_bytes for stage in worst.stages)
    return MemoryReport(
        size=level.size, readonly=False, worst_case=used + stacks, live_set=None, lower_bound=None, status=None,
        activations=sum(local.values()), copy_buffers=moved, scratch=scratch, constants=sum(pinned.values()),
        padding=used - sum(local.values()) - moved - scratch - sum(pinned.values()),
        stack=stacks or None,
    )  # fmt: skip


def _parts(alive: Sequence[Region]) -> dict[str, int]:
    """Bytes by kind of what is alive at one moment; a byte that two share is counted for the one that starts lower."""
    parts = dict.fromkeys(BUFFER_KINDS, 0)
    covered = 0
    for region in sorted(alive, key=lambda r: (r.offset, -r.size)):
        end = region.offset + region.size
        parts[region.kind] += max(0, end - max(covered, region.offset))
        covered = max(covered, end)
    return parts


def _worst_parts(regions: Sequence[Region]) -> dict[str, int]:
    """The parts at the moment at which most bytes are in use, the first of several such moments.

    A moment is looked at only where the sizes of what is alive, which may share bytes, exceed the most found so far.
    """
    if not regions:
        return _parts([])
    change: dict[int, int] = {}
    for region in regions:
        change[region.first] = change.get(region.first, 0) + region.size
        change[region.last + 1] = change.get(region.last + 1, 0) - region.size
    moments = sorted(change)
    sums = dict(zip(moments, accumulate(change[moment] for moment in moments), strict=True))
    at = max(sums, key=lambda moment: sums[moment])
    best = _parts([r for r in regions if r.first <= at <= r.last])
    most = sum(best.values())
    waiting = sorted(range(len(regions)), key=lambda index: -regions[index].first)
    alive: dict[int, Region] = {}
    dying: list[tuple[int, int]] = []
    for moment in sorted({region.first for region in regions}):
        while waiting and regions[waiting[-1]].first == moment:
            index = waiting.pop()
            alive[index] = regions[index]
            heapq.heappush(dying, (regions[index].last, index))
        while dying[0][0] < moment:
            del alive[heapq.heappop(dying)[1]]
        if sums[moment] > most or (sums[moment] == most and moment < at):
            parts = _parts([alive[index] for index in sorted(alive)])
            if (-sum(parts.values()), moment) < (-most, at):
                best, most, at = parts, sum(parts.values()), moment
    return best


def _compute_level(placed: PlacedPlan, level: MemoryLevel) -> MemoryReport:
    regions = placed.regions
    parts = _worst_parts(regions)
    return MemoryReport(
        size=level.size,
        readonly=level.readonly,
        worst_case=placed.arena_bytes,
        live_set=placed.live_set,
        lower_bound=placed.lower_bound,
        status="optimal" if placed.solution.status == "optimal" else "gap",
        activations=parts["activations"],
        io=parts["io"],
        scratch=parts["scratch"],
        copy_buffers=parts["copy_buffers"],
        constants=parts["constants"],
        padding=placed.arena_bytes - sum(parts.values()),
        buffers=tuple(
            BufferReport(r.name, r.offset, r.size, r.first, r.last, BUFFER_KINDS[r.kind])  # type: ignore[arg-type]
            for r in regions
        ),
    )


def collect(
    *,
    loaded: Model,
    graph: BoundGraph,
    model: Model,
    placed: PlacedPlan,
    passes: Sequence[PassResult],
    levels: Sequence[MemoryLevel],
    constant_bytes: int,
    table_bytes: int = 0,
    target: str,
    seconds: Mapping[str, float],
    float_tensors: Sequence[str] = (),
) -> Report:
    """The report of a compilation that has not been built or run."""
    return Report(
        tool=ToolReport(VERSION, dict(seconds)),
        model=model_report(model, loaded, graph, float_tensors),
        platform=graph.platform.name,
        target=target,
        memory=memory_reports(placed, levels, constant_bytes, table_bytes),
        passes=tuple(PassReport(p.name, p.saved_bytes, p.added_operations) for p in passes),
        layers=layer_reports(placed, graph),
    )
