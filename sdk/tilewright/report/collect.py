"""From the values of all stages to the report: counts each byte once and takes nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.binding.graph import BoundGraph
from tilewright.memory.placed import PlacedPlan, Region
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.quantised_numerics import quantised_numerics
from tilewright.passes.driver import PassReport as PassResult
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
from tilewright.version import VERSION

BUFFER_KINDS: Mapping[str, str] = {"activations": "activation", "io": "io", "scratch": "scratch"}
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


def layer_reports(placed: PlacedPlan) -> tuple[LayerReport, ...]:
    """One row per instruction."""
    plan = placed.plan
    return tuple(
        LayerReport(
            name=i.name,
            op=i.call.node.op,
            kernel=i.kernel.name if i.sharing is None else VIEW,
            numerics=numerics_of(i.call, i.kernel.numerics),
            tile=dict(i.schedule.sizes) if i.schedule else None,
            tiles=i.schedule.tiles if i.schedule else 1,
            macs=multiply_accumulates(i.call),
            copied_bytes={},
            loaded_bytes=None,
            stored_bytes=None,
            engine=i.kernel.engine if i.sharing is None else "",
            results=tuple(_result(placed, slot) for slot in i.outputs),
        )
        for i in plan.instructions
    )


def _result(placed: PlacedPlan, slot: int) -> ResultReport:
    tensor = placed.plan.slots[slot].tensor
    return ResultReport(tensor.name, tensor.size_bytes, placed.level, placed.slot_offsets.get(slot))


def memory_reports(placed: PlacedPlan, levels: Sequence[MemoryLevel], constant_bytes: int) -> dict[str, MemoryReport]:
    """Per level the worst moment decomposed; levels that hold nothing are reported as such."""
    found = {}
    readonly = any(level.readonly for level in levels)
    fast = next((i.schedule.compute_level for i in placed.plan.instructions if i.schedule is not None), "")
    for level in levels:
        if level.name == placed.level:
            row = _compute_level(placed, level)
            if not readonly:
                row = replace(row, worst_case=row.worst_case + constant_bytes, constants=constant_bytes)
            found[level.name] = row
        elif level.name == fast:
            used = placed.plan.compute_bytes
            found[level.name] = MemoryReport(
                size=level.size, readonly=False, worst_case=used, live_set=None, lower_bound=None, status=None,
                copy_buffers=used,
            )  # fmt: skip
        else:
            tiled = level.name == _tile_level(placed)
            bytes_used = placed.plan.compute_bytes if tiled else constant_bytes if level.readonly else 0
            found[level.name] = MemoryReport(
                size=level.size, readonly=level.readonly, worst_case=bytes_used, live_set=None, lower_bound=None,
                status=None, constants=0 if tiled else bytes_used,
            )  # fmt: skip
    return found


def _tile_level(placed: PlacedPlan) -> str:
    """The level of tiles, "" where nothing is tiled."""
    return next((i.schedule.compute_level for i in placed.plan.instructions if i.schedule is not None), "")


def _parts(alive: Sequence[Region]) -> dict[str, int]:
    """Bytes by kind of what is alive at one moment; a byte that two share is counted for the one that starts lower."""
    parts = {kind: 0 for kind in ("activations", "io", "scratch")}
    covered = 0
    for region in sorted(alive, key=lambda r: (r.offset, -r.size)):
        end = region.offset + region.size
        parts[region.kind] += max(0, end - max(covered, region.offset))
        covered = max(covered, end)
    return parts


def _compute_level(placed: PlacedPlan, level: MemoryLevel) -> MemoryReport:
    regions = placed.regions
    moments = [_parts([r for r in regions if r.first <= t <= r.last]) for t in sorted({r.first for r in regions})]
    parts = max(moments, key=lambda found: sum(found.values()), default=_parts([]))
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
        memory=memory_reports(placed, levels, constant_bytes),
        passes=tuple(PassReport(p.name, p.saved_bytes) for p in passes),
        layers=layer_reports(placed),
    )
