"""One run from a written project to a report: build, start, compare with the executor and with a reference, count."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.errors import FenceError
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.guards import guards_of, skipped
from tilewright.plan.liveness import Storage
from tilewright.plan.plan import ExecutionPlan, caller_of, view_root
from tilewright.report.build import LayerReport, Report
from tilewright.report.costs import with_slow
from tilewright.run.build import build
from tilewright.run.compare import Comparison, compared, outcome
from tilewright.run.counts import Counts, Span
from tilewright.run.cycles import load_model
from tilewright.run.image import STATE, Image
from tilewright.run.inputs import drawn_sentences, expected_outputs, input_arrays
from tilewright.run.lengths import cut_loops
from tilewright.run.measure import measured_memory, toolchain
from tilewright.run.perplexity import with_reading
from tilewright.run.promises import keep_levels, keep_promises
from tilewright.run.ranges import fence_map
from tilewright.run.simulate import DumpEntry, Execution, execute
from tilewright.run.simulator import Simulator, Subject, simulator_of
from tilewright.run.slot_comparison import compare_slot
from tilewright.run.taps import Inner, compare_inner, has_chains
from tilewright.run.ties import read_slots
from tilewright.run.tile_profile import with_tiles
from tilewright.run.tool import require_tools
from tilewright.run.whole import calls_of
from tilewright.target import Target


def run_project(subject: Subject, target: Target, options: RunOptions, runner: Simulator | None = None) -> Report:
    """The report with `run`, `toolchain` and measured stack and code filled in. Differences are in it, not raised.

    A `runner` such as a real board takes the place of the target's simulator. UsageError where there is neither.
    """
    if subject.stream is not None and options.frames is None:
        options = replace(options, frames=calls_of(subject.stream), sequence=options.inputs, inputs=None)
    report = (runner or simulator_of(target)).run(subject, target, options)
    return report if options.reading is None else with_reading(report, subject, options.reading)


def run_images(simulator: Simulator, subject: Subject, target: Target, options: RunOptions) -> Report:
    """`run_project` where a simulator starts images, one inference a start.

    Where it has fences, every network is run once more inside them: FenceError where a layer touches what it did not
    declare, or where more stack or arena was used than the report promises.
    """
    require_tools(target)
    inputs = input_arrays(subject.placed.plan, options.inputs, options.seed)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        work = Path(folder)
        image = build(subject.project, subject.interface, target, work / "plain")
        raw = [np_bytes(array) for array in inputs]
        execution, inside = execute(image, raw, count=simulator.counts(image)), simulator.fences(target)
        call = call_of(subject, inputs, execution, options)
        keep_promises(subject.placed, image, execution)
        layers, inner = dict[int, Comparison](), dict[int, tuple[Inner, ...]]()
        counts, spans = execution.counts, tuple[Span, ...]()
        if options.layers or options.profile or inside:
            traced = build(subject.project, subject.interface, target, work / "traced", trace=True, fence=bool(inside))
            if inside:
                run_fenced(subject, traced, raw, execution, inside)
            if options.layers:
                results = results_of(subject.placed)
                dumps = execute(traced, raw, dump=[result.entry for result in results]).dumps
                layers = compare_layers(subject.placed, results, [dump.data for dump in dumps], call.slots, options)
                if has_chains(subject.placed):
                    tapped = build(subject.project, subject.interface, target, work / "tapped", trace=True, tap=True)
                    inner = compare_inner(subject.placed, execute(tapped, raw).taps, call.slots, options)
            if options.profile:
                profiled = execute(traced, raw, count=True)
                counts, spans = with_layers(counts, profiled.counts), profiled.spans
    report = report_of(subject, image, execution, call.results, layers, counts, inside)
    return with_simulator(of_one_call(subject, with_inner(report, inner), call, spans, options), target)


@dataclass(frozen=True)
class Call:
    """One call that a target made: its inputs, NumPy's values of all slots, and every result compared."""

    inputs: Sequence[Array]
    slots: Sequence[Array]
    results: Sequence[Comparison]


def call_of(subject: Subject, inputs: Sequence[Array], execution: Execution, options: RunOptions) -> Call:
    """The first call of an execution, compared with `options.expect`, or else with NumPy's results."""
    plan = subject.placed.plan
    expected = expected_outputs(plan, options.expect) if options.expect is not None else None
    outputs, states = read_outputs(plan, execution), read_states(subject.placed, execution.steps[0].state)
    slots = read_slots(plan, inputs, None, results_by_slot(plan, outputs, states), options)
    against = expected if expected is not None else [slots[s] for s in plan.output_slots]
    results = [
        compare_slot(plan, s, a, b, options) for s, a, b in zip(plan.output_slots, outputs, against, strict=True)
    ]
    results += [
        compare_slot(plan, p.source, a, slots[p.source], options) for p, a in zip(plan.state, states, strict=True)
    ]
    return Call(inputs, slots, results)


def of_one_call(subject: Subject, report: Report, call: Call, spans: Sequence[Span], options: RunOptions) -> Report:
    """The report of a call with what its inputs were drawn from, the reference, and the cycles of layers and tiles."""
    plan = subject.placed.plan
    if options.inputs is None:
        report = with_drawn(report, plan)
    if options.expect is None and options.reference:
        report = with_reference(report, subject.source, plan, call.inputs)
    layers = with_cycles(report.layers, spans)
    if options.profile:
        layers = with_tiles(layers, plan, spans)
    return with_slow(replace(report, layers=layers))


def with_simulator(report: Report, target: Target) -> Report:
    """The report of a run, with the board that stood in where the target is a chip or a core."""
    assert report.run is not None
    return replace(report, run=replace(report.run, simulated_by=target.simulated_by))


def with_layers(total: Counts | None, traced: Counts | None) -> Counts | None:
    """The layers of an image with trace under the total of one without; that of the former where there is no other."""
    if total is None or traced is None:
        return traced or total
    return replace(total, layers=traced.layers)


def with_cycles(layers: Sequence[LayerReport], spans: Sequence[Span]) -> tuple[LayerReport, ...]:
    """The layers with the cycles that a simulator with a model of time gave each of them."""
    cycles = {span.instruction: span.cycles for span in spans if span.kind == "layer"}
    return tuple(replace(row, cycles=cycles.get(index, row.cycles)) for index, row in enumerate(layers))


def run_fenced(
    subject: Subject, traced: Image, raw: Sequence[bytes], before: Execution, fences: Sequence[str],
    more: Sequence[Sequence[bytes]] = (),
) -> None:  # fmt: skip
    """Run, with `more` calls behind the first, inside these fences: the core's memory protection ("hardware"), the
    declared bytes (any other).

    FenceError at the first access outside, or where more of a level is touched than the report promises.
    """
    declared = any(fence != "hardware" for fence in fences)
    shared = subject.shared.constants if subject.shared is not None else None
    fenced = execute(traced, raw, more=more, fence=fence_map(subject.placed, shared) if declared else None)
    same = [(step.outputs, step.state) for step in before.steps[: len(more) + 1]]
    if [(step.outputs, step.state) for step in fenced.steps] != same:
        raise FenceError(
            f"the outputs of '{traced.model}' change inside the fences",
            why="the layers read bytes that they did not write",
            fix="the kernel or its tile computation is wrong",
        )
    keep_levels(subject.report.memory, traced, fenced.touched)


def np_bytes(array: Array) -> bytes:
    """The array's elements as the target reads them."""
    return array.tobytes()


def read_outputs(plan: ExecutionPlan, execution: Execution) -> list[Array]:
    """The outputs that a run brought back, as logical arrays."""
    arrays = []
    for slot, raw in zip(plan.output_slots, execution.outputs, strict=True):
        tensor = plan.slots[slot].tensor
        arrays.append(np.frombuffer(raw, tensor.dtype.numpy).reshape(tensor.shape))
    return arrays


def read_states(placed: PlacedPlan, raw: bytes) -> list[Array]:
    """What the states hold, as logical arrays, in the plan's order; `raw` are the bytes of their memory."""
    arrays = []
    for slot in placed.plan.state_slots:
        tensor, at = placed.plan.slots[slot].tensor, placed.state_offsets[slot]
        arrays.append(np.frombuffer(raw[at : at + tensor.size_bytes], tensor.dtype.numpy).reshape(tensor.shape))
    return arrays


def results_by_slot(plan: ExecutionPlan, outputs: Sequence[Array], states: Sequence[Array]) -> dict[int, Array]:
    """What a call of the target gave, by the slots of the plan."""
    last = zip((pair.source for pair in plan.state), states, strict=True)
    return dict(last) | dict(zip(plan.output_slots, outputs, strict=True))


@dataclass(frozen=True)
class LayerResult:
    """A result that lies in the network's own memory right behind its instruction, or behind the call that runs it: its
    slot, and where to read it.
    """

    instruction: int
    slot: int
    entry: DumpEntry


def results_of(placed: PlacedPlan) -> tuple[LayerResult, ...]:
    """Every result of the plan that lies in the network's own memory, in the order of instructions."""
    plan = placed.plan
    results = []
    own = {slot: storage for storage in placed.storages for slot in storage.members}
    during = {index: high - 1 for low, high in plan.sittings for index in range(low, high)}
    for instruction in plan.instructions:
        for slot in instruction.outputs:
            tensor = plan.slots[slot].tensor
            end = during.get(instruction.index)
            if end is not None and not _stays(plan, slot, instruction.index, end, own):
                continue  # others may have its bytes when the call ends
            for offsets, symbol in ((placed.slot_offsets, ""), (placed.state_offsets, STATE)):
                if slot in offsets:
                    behind = caller_of(plan, instruction).index
                    entry = DumpEntry(behind, tensor.name, offsets[slot], tensor.size_bytes, symbol)
                    results.append(LayerResult(instruction.index, slot, entry))
    return tuple(results)


def _stays(plan: ExecutionPlan, slot: int, made: int, end: int, own: Mapping[int, Storage]) -> bool:
    """Whether nothing takes a slot's bytes between instruction `made` and the end of its sitting: no other storage, and
    no result that is written over it."""
    if slot not in own or own[slot].last < end:
        return False
    behind = {output for each in plan.instructions[made + 1 : end + 1] for output in each.outputs}
    return all(view_root(plan, other) == view_root(plan, slot) for other in own[slot].members if other in behind)


def compare_layers(
    placed: PlacedPlan, results: Sequence[LayerResult], dumps: Sequence[bytes], slots: Sequence[Array],
    options: RunOptions,
) -> dict[int, Comparison]:  # fmt: skip
    """The worst result of every instruction that has run, with the bytes that a target gave for each."""
    plan, worst = placed.plan, dict[int, Comparison]()
    left_out = skipped(guards_of(plan), slots)
    for result, data in zip(results, dumps, strict=True):
        instruction = result.instruction
        if instruction in left_out:
            continue
        where = plan.slots[result.slot]
        flat = np.frombuffer(data, where.tensor.dtype.numpy)
        values = where.layout.unpack(flat, where.tensor.shape)
        comparison = compare_slot(plan, result.slot, values, slots[result.slot], options)
        known = worst.get(instruction)
        if known is None or comparison.mismatches > known.mismatches:
            worst[instruction] = comparison
    return worst


def report_of(
    subject: Subject,
    image: Image | None,
    execution: Execution,
    results: Sequence[Comparison],
    layers: Mapping[int, Comparison],
    counts: Counts | None,
    fences: tuple[str, ...],
) -> Report:
    """The report of a compilation with what an execution and its comparisons add to it.

    `image` is None where somebody else built what ran.
    """
    run = replace(
        outcome(results, layers.values()),
        instructions=counts.instructions if counts else None,
        cycles=execution.cycles,
        stack_bytes=execution.stack_bytes,
        fences=fences,
        counter=counts.counter if counts else None,
        modelled_cycles=counts.modelled_cycles if counts else None,
        cycle_model=cycle_model(image.target) if counts and image else "",
        cut_loops=cut_loops(subject.placed.plan, [step.outputs for step in execution.steps]),
    )
    rows = tuple(_layer(row, i, layers, counts) for i, row in enumerate(subject.report.layers))
    report = replace(subject.report, run=run, layers=rows)
    return report if image is None else _with_image(report, image)


def _with_image(report: Report, image: Image) -> Report:
    """The report with the compiler, the sizes and the memory of what was built."""
    sizes, run = image.sizes, report.run
    assert run is not None
    run = replace(
        run, text_bytes=sizes.text_bytes, rodata_bytes=sizes.rodata_bytes, ram_bytes=sizes.ram_bytes
    )  # fmt: skip
    memory = measured_memory(report, image, run.stack_bytes or 0)
    return replace(report, run=run, toolchain=toolchain(image), memory=memory)


def with_reference(report: Report, source: Path, plan: ExecutionPlan, inputs: Sequence[Array]) -> Report:
    """The report of a run with the comparison of NumPy with ONNX Runtime, or with the reason why there is none."""
    from tilewright.run.reference import compare_with_reference

    assert report.run is not None
    reference, missing = compare_with_reference(source, plan, inputs)
    return replace(report, run=replace(report.run, reference=reference, reference_missing=missing))


def with_inner(report: Report, inner: Mapping[int, Sequence[Inner]]) -> Report:
    """The report with the tensors inside of chains; one that differs spoils the match like a layer that does."""
    if not inner:
        return report
    assert report.run is not None
    same = all(each.result.match for comparisons in inner.values() for each in comparisons)
    rows = [
        replace(row, inner=tuple(each.report() for each in inner.get(index, ())))
        for index, row in enumerate(report.layers)
    ]
    return replace(report, run=replace(report.run, match=report.run.match and same), layers=tuple(rows))


def with_drawn(report: Report, plan: ExecutionPlan) -> Report:
    """The report of a run on drawn inputs, with what they were drawn from where the network limits that."""
    assert report.run is not None
    return replace(report, run=replace(report.run, drawn=drawn_sentences(plan)))


def cycle_model(target: Target) -> str:
    """The table that modelled cycles are computed by, in words; empty where there is none."""
    model = load_model(target)
    if model is None:
        return ""
    return f"{model.core}, {target.flash_wait_states} wait states of flash; {model.source}"


def _layer(row: LayerReport, index: int, layers: Mapping[int, Comparison], counts: Counts | None) -> LayerReport:
    row = compared(row, layers.get(index))
    if counts is not None:
        for layer in counts.layers:
            if layer.instruction == index:
                known = bool(layer.loaded_bytes or layer.stored_bytes)
                row = replace(
                    row,
                    instructions=layer.instructions,
                    loaded_bytes=sum(layer.loaded_bytes.values()) if known else None,
                    stored_bytes=sum(layer.stored_bytes.values()) if known else None,
                    loaded_by_level=dict(layer.loaded_bytes),
                    stored_by_level=dict(layer.stored_bytes),
                    core_cycles=layer.modelled_cycles,
                )
    return row
