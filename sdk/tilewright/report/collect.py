"""From the values of all stages to the report: counts each byte once and takes nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.prices import Core, Faster
from tilewright.memory.levels import memory_reports
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Model, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.products import multiply_accumulates
from tilewright.ops.quantised.numerics import quantised_numerics
from tilewright.passes.driver import PassReport as PassResult
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.plan.profile import copied_bytes, modelled_cycles
from tilewright.platform import MemoryLevel
from tilewright.report.build import (
    LayerReport,
    MemberReport,
    PassReport,
    Report,
    ResultReport,
    ToolReport,
)
from tilewright.report.calls import StateReport
from tilewright.report.costs import with_slow
from tilewright.report.network import LengthReport, ModelReport, QuantisationReport, TensorReport
from tilewright.report.slow import FasterReport
from tilewright.report.tiled import timeline, with_tile_buffers
from tilewright.rows.chain import RowChain
from tilewright.tiling.fall_back import gave_way
from tilewright.version import VERSION

NOTHING_COPIED: Mapping[str, str] = {}
VIEW = "view"
"""What stands for the kernel of an instruction whose operands and results are the same bytes."""


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
        lengths=tuple(LengthReport(length.axis, length.count) for length in tensor.lengths),
    )


def _state(tensor: Tensor, output: str, copied: Mapping[str, str]) -> StateReport:
    """A state with what keeps it from being written in place."""
    return StateReport(
        tensor.name, output, tensor.dtype.value, tensor.shape, tensor.size_bytes, copied.get(tensor.name, "")
    )


def model_report(
    model: Model, loaded: Model, graph: BoundGraph, float_tensors: Sequence[str], copied: Mapping[str, str]
) -> ModelReport:
    """The network: `loaded` as it came, `model` as it is compiled; `copied` says why states are."""
    return ModelReport(
        name=model.name,
        sha256=model.sha256,
        nodes=len(loaded.nodes),
        macs=sum(multiply_accumulates(bound.call) for bound in graph.nodes),
        parameter_bytes=sum(loaded.tensors[name].size_bytes for name in loaded.constants),
        inputs=tuple(tensor_report(name, model.tensors[name]) for name in model.given),
        outputs=tuple(tensor_report(name, model.tensors[name]) for name in model.results),
        quantisation=QuantisationReport(model.quantisation_form, tuple(float_tensors)),
        states=tuple(_state(model.tensors[state.past], state.present, copied) for state in model.states),
    )


def numerics_of(call: Call, declared: str) -> str:
    """What the kernel declares; for an exact one what was proved of this very layer, where it requantises."""
    return (quantised_numerics(call) or declared) if declared == "exact" else declared


def layer_reports(placed: PlacedPlan, graph: BoundGraph, core: Core) -> tuple[LayerReport, ...]:
    """One row per instruction."""
    plan, platform, instead = placed.plan, graph.platform, gave_way(graph)
    known = {node.call.node.name: node for node in graph.nodes}
    bound = {i.name: known.get(i.name) or BoundNode(i.call, i.kernel) for i in plan.instructions}
    computed = {slot for i in plan.instructions for slot in i.outputs} | set(plan.input_slots)
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
            fused_into=i.fused_into or i.errand_of,
            part_of=i.call.node.part_of,
            modelled_cycles=modelled_cycles(plan, i, platform),
            engine=i.kernel.engine if i.aliasing is None else "",
            results=tuple(_result(placed, slot) for slot in i.outputs),
            instead_of=instead.get(i.name, ""),
            nodes=tuple(call.node.name for call in i.call.chain),
            operands=tuple(dict.fromkeys(_made(plan, slot, computed) for slot in i.inputs if slot >= 0)),
            members=members_of(bound[i.name], core),
            timeline=timeline(plan, i, platform),
            estimated_cost=estimated_cost(bound[i.name], core) if i.aliasing is None else 0,
            faster=_faster(core.faster(i.call, i.kernel, bound[i.name].candidates)) if i.aliasing is None else None,
            with_aim=_faster(core.by_aim(i.call, i.kernel, bound[i.name].candidates)) if i.aliasing is None else None,
        )
        for i in plan.instructions
    )


def _made(plan: ExecutionPlan, slot: int, made: Collection[int]) -> str:
    """The tensor that an operand is: of one that only shows another's bytes, the one that a layer makes."""
    maker = slot
    while maker not in made and (storage := plan.slots[maker].storage) is not None:
        maker = storage[0]
    return plan.slots[maker if maker in made else slot].tensor.name


def _result(placed: PlacedPlan, slot: int) -> ResultReport:
    tensor = placed.plan.slots[slot].tensor
    return ResultReport(tensor.name, tensor.size_bytes, placed.level, placed.slot_offsets.get(slot))


def _faster(kernel: Faster | None) -> FasterReport | None:
    return None if kernel is None else FasterReport(kernel.kernel, round(kernel.cost), kernel.why)


def members_of(bound: BoundNode, core: Core) -> tuple[MemberReport, ...]:
    """The nodes of a chain of rows, each with what all its bands are estimated to cost; none of another layer."""
    chain = bound.kernel.methods if bound.kernel is not None else None
    if not isinstance(chain, RowChain):
        return ()
    members = []
    parts = bound.parts or tuple(BoundNode(stage.node.call, stage.kernel) for stage in chain.stages)
    for number, (stage, part) in enumerate(zip(chain.stages, parts, strict=True)):
        call, node = part.call, part.call.node
        cost = chain.walked.count(number) * core.estimated(stage.call, stage.kernel)
        members.append(
            MemberReport(
                node.name, node.op, multiply_accumulates(call), node.inputs, node.outputs, stage.kernel.name,
                round(cost),
                _faster(core.faster(call, stage.kernel, part.candidates)),
                _faster(core.by_aim(call, stage.kernel, part.candidates)),
            )
        )  # fmt: skip
    return tuple(members)


def estimated_cost(bound: BoundNode, core: Core) -> int:
    """What a layer is estimated to cost, a chain the sum of its nodes."""
    if members := members_of(bound, core):
        return sum(member.estimated_cost or 0 for member in members)
    return round(core.estimated(bound.call, bound.kernel)) if bound.kernel is not None else 0


def operand_bytes(plan: ExecutionPlan, instruction: Instruction) -> int:
    """Bytes of an instruction's operands, results and constants, each once."""
    slots = {slot for slot in (*instruction.inputs, *instruction.outputs) if slot >= 0}
    constants = (plan.frozen_slots[index].constant for index in instruction.frozen)
    return sum(plan.slots[slot].tensor.size_bytes for slot in slots) + sum(
        constant.size_bytes for constant in constants
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
    capabilities: Collection[str],
    seconds: Mapping[str, float],
    float_tensors: Sequence[str] = (),
    copied: Mapping[str, str] = NOTHING_COPIED,
) -> Report:
    """The report of a compilation that has not been built or run."""
    core = Core(graph.platform, capabilities)
    report = Report(
        tool=ToolReport(VERSION, dict(seconds)),
        model=model_report(model, loaded, graph, float_tensors, copied),
        platform=graph.platform.name,
        target=target,
        memory=with_tile_buffers(memory_reports(placed, levels, constant_bytes, table_bytes), placed.plan),
        passes=tuple(PassReport(p.name, p.saved_bytes, p.added_operations, p.cut_off) for p in passes),
        layers=layer_reports(placed, graph, core),
    )
    return with_slow(report)
