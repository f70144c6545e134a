"""`run` on a target of the platform cuda: build a library, load it, warm up, capture, replay, compare.

Every output of an eager call and of a replay is compared with NumPy, and replay with eager bit for bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tilewright.errors import MismatchError
from tilewright.memory.buffer_layout import layout_of
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.execute import run_slots
from tilewright.report.build import Report, ToolchainReport
from tilewright.run.classes import with_data_set
from tilewright.run.compare import Comparison, compared, outcome
from tilewright.run.cuda_bulk import AT_ONCE, run_set
from tilewright.run.cuda_executor import CUDAGraphExecutor, build_plan
from tilewright.run.cuda_library import build_library, find_compiler
from tilewright.run.inputs import expected_outputs, input_arrays
from tilewright.run.lengths import cut_loops
from tilewright.run.samples import SampleSet, expected_set, numpy_set, progress_bar, read_set
from tilewright.run.session import with_drawn, with_reference
from tilewright.run.simulator import Subject
from tilewright.run.slot_comparison import compare_slot
from tilewright.run.tool import start
from tilewright.target import Target


def run_on_gpu(subject: Subject, target: Target, options: RunOptions) -> Report:
    """The report with `run` and `toolchain` filled in; MismatchError where a replay differs from the eager call."""
    plan = subject.placed.plan
    samples = read_set(plan, options)
    if samples is not None:
        return _run_samples(subject, target, options, samples)
    inputs = input_arrays(plan, options.inputs, options.seed)
    expected = expected_outputs(plan, options.expect) if options.expect is not None else None
    slots = run_slots(plan, inputs)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        library = build_library(subject.project, target, Path(folder))
        layout = layout_of(subject.placed)
        with CUDAGraphExecutor(plan, layout=layout, library=library, poison=True) as executor:
            outputs = _same_replays(executor, inputs)
            steps = executor.run_steps(*inputs) if options.layers else ()
    against = expected if expected is not None else [slots[s] for s in plan.output_slots]
    results = [
        compare_slot(plan, s, a, b, options) for s, a, b in zip(plan.output_slots, outputs, against, strict=True)
    ]
    layers: dict[int, Comparison] = {}
    for instruction, values in zip(plan.instructions, steps, strict=False):
        for slot, value in zip(instruction.outputs, values, strict=True):
            layers[instruction.index] = compare_slot(plan, slot, value, slots[slot], options)
    report = _report(subject, _toolchain(target, subject.project), results, layers, outputs)
    if options.inputs is None:
        report = with_drawn(report, plan)
    if expected is None and options.reference:
        report = with_reference(report, subject.source, plan, inputs)
    return report


def replayed_results(placed: PlacedPlan, target: Target, rounds: Sequence[Sequence[Array]]) -> list[tuple[Array, ...]]:
    """The outputs of a plan for each round of inputs; MismatchError where a replay differs from the eager call."""
    plan, layout = placed.plan, layout_of(placed)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        library = build_plan(plan, layout, target, Path(folder))
        with CUDAGraphExecutor(plan, layout=layout, library=library, poison=True) as executor:
            return [_same_replays(executor, inputs) for inputs in rounds]


def _run_samples(subject: Subject, target: Target, options: RunOptions, samples: SampleSet) -> Report:
    """All samples of a set by replay; each output is compared with what is expected, else the first with NumPy's."""
    plan = subject.placed.plan
    expected = expected_set(plan, options.expect, samples.count) if options.expect is not None else None
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        library = build_library(subject.project, target, Path(folder))
        layout = layout_of(subject.placed)
        at_once = min(AT_ONCE, samples.count)
        with CUDAGraphExecutor(plan, layout=layout, library=library, samples=at_once, poison=True) as executor:
            outputs = run_set(executor, samples.inputs, progress_bar)
            if executor.capture_error is not None:
                raise executor.capture_error
    if expected is None:
        expected = numpy_set(plan, samples)
    results = [
        compare_slot(plan, slot, a[: len(b)], b, options)
        for slot, a, b in zip(plan.output_slots, outputs, expected, strict=True)
    ]
    report = _report(subject, _toolchain(target, subject.project), results, {}, outputs)
    return with_data_set(report, plan, options, samples, outputs, len(expected[0]))


def _same_replays(executor: CUDAGraphExecutor, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs of an eager call; those of the capture, a replay and the megakernel must be the same."""
    eager = executor.run(*inputs)
    calls = {"capture": executor.run(*inputs), "replay": executor.run(*inputs)}
    if executor.capture_error is not None:
        raise executor.capture_error
    calls["megakernel"] = executor.run_megakernel(inputs)
    for way, outputs in calls.items():
        for name, one, other in zip(executor.plan.output_names, eager, outputs, strict=True):
            if one.tobytes() != other.tobytes():
                raise MismatchError(
                    f"'{name}' differs between the eager call and the {way}",
                    why=f"{int(np.count_nonzero(one != other))} of {one.size} elements", fix="report it",
                    tensor=name,
                )  # fmt: skip
    return calls["replay"]


def _toolchain(target: Target, folder: Path) -> ToolchainReport:
    driver = find_compiler(target)
    lines = start([driver, "--version"], folder).output.strip().splitlines() or [""]
    version = next((line for line in lines if "release" in line), lines[0])
    return ToolchainReport(driver, version.strip(), " ".join(target.flags))


def _report(
    subject: Subject,
    toolchain: ToolchainReport,
    results: Sequence[Comparison],
    layers: Mapping[int, Comparison],
    outputs: Sequence[Array],
) -> Report:
    cut = cut_loops(subject.placed.plan, [[output.tobytes() for output in outputs]])
    run = replace(outcome(results, layers.values()), cut_loops=cut)
    rows = tuple(compared(row, layers.get(index)) for index, row in enumerate(subject.report.layers))
    return replace(subject.report, run=run, toolchain=toolchain, layers=rows)
