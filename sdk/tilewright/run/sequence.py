"""A sequence of calls in one start of a simulator: every output and every state compared after every call."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.execute import first_value, run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.report.build import Report
from tilewright.report.calls import FramesReport
from tilewright.run.calls import Called, report_of_calls, run_calls
from tilewright.run.compare import Comparison
from tilewright.run.frames import Frames, Results, read_frames, reference_steps
from tilewright.run.lengths import with_padding
from tilewright.run.reference import NAME, NoReferenceError, tensor_differing
from tilewright.run.session import read_states, results_by_slot
from tilewright.run.simulator import Simulator, Subject
from tilewright.run.slot_comparison import compare_slot
from tilewright.run.ties import has_ties, read_slots
from tilewright.run.tool import require_tools
from tilewright.run.whole import check_calls, cut_frames, whole_differences
from tilewright.target import Target


def run_sequence(simulator: Simulator, subject: Subject, target: Target, options: RunOptions) -> Report:
    """The report of a sequence: `run` compares all calls, `run.frames` says where they differ and what they cost."""
    require_tools(target)
    frames = frames_of(subject, options)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        calls = [[array.tobytes() for array in frame] for frame in frames]
        called = run_calls(simulator, subject, target, Path(folder), calls)
        return judged(subject, called, frames, options)


def frames_of(subject: Subject, options: RunOptions) -> Frames:
    """The inputs of every call that is asked for; UsageError for a file that does not suit."""
    plan = subject.placed.plan
    assert options.frames is not None
    if subject.stream is not None and options.sequence is not None:
        frames = cut_frames(plan, subject.stream, options.sequence)
    else:
        frames = read_frames(plan, options.frames, options.seed)
    if subject.stream is not None:
        check_calls(subject.stream, len(frames))
    return frames


def judged(subject: Subject, called: Called, frames: Frames, options: RunOptions) -> Report:
    """The report of calls that were made with these inputs: compared with NumPy's and ONNX Runtime's, and counted."""
    placed, plan = subject.placed, subject.placed.plan
    steps = [read_step(placed, step.outputs, step.state) for step in called.execution.steps]
    expected = tuple(read_steps(plan, frames, steps, options) if has_ties(plan) else numpy_steps(plan, frames))
    comparisons = _compared(plan, steps, expected, options)
    report = report_of_calls(subject, called, [one for _, one in comparisons])
    told = _told(subject, plan, frames, steps, comparisons)
    if costs := called.costs:
        worst = max(range(len(costs)), key=lambda call: costs[call])
        told = replace(told, mean_cost=called.mean_cost, worst_cost=costs[worst], worst_call=worst)
    assert report.run is not None
    return replace(report, run=replace(report.run, frames=told))


def numpy_steps(plan: ExecutionPlan, frames: Frames) -> Iterable[Results]:
    """The results of every call as the NumPy executor computes them, from its own states."""
    states = [first_value(plan, pair) for pair in plan.state]
    for frame in frames:
        slots = run_slots(plan, frame, states)
        states = [slots[pair.source] for pair in plan.state]
        yield Results(tuple(slots[slot] for slot in plan.output_slots), tuple(states))


def read_steps(plan: ExecutionPlan, frames: Frames, steps: Sequence[Results], options: RunOptions) -> Iterable[Results]:
    """The results of every call from the states that the target had before it, with ties read as it did."""
    states = [first_value(plan, pair) for pair in plan.state]
    for frame, step in zip(frames, steps, strict=True):
        slots = read_slots(plan, frame, states, results_by_slot(plan, step.outputs, step.states), options)
        states = list(step.states)
        yield Results(
            tuple(slots[slot] for slot in plan.output_slots), tuple(slots[pair.source] for pair in plan.state)
        )


def read_step(placed: PlacedPlan, outputs: Sequence[bytes], state: bytes) -> Results:
    """One call as the target brought it back."""
    arrays = []
    for slot, raw in zip(placed.plan.output_slots, outputs, strict=True):
        tensor = placed.plan.slots[slot].tensor
        arrays.append(np.frombuffer(raw, tensor.dtype.numpy).reshape(tensor.shape))
    return Results(tuple(arrays), tuple(read_states(placed, state)))


def _compared(
    plan: ExecutionPlan, steps: Sequence[Results], expected: Sequence[Results], options: RunOptions
) -> list[tuple[str, Comparison]]:
    """Every tensor of every call, with the words that name it."""
    comparisons = []
    for at, (ours, wanted) in enumerate(zip(steps, expected, strict=True)):
        for name, slot, a, b in _tensors(plan, ours, wanted):
            comparisons.append((_name(at, name), compare_slot(plan, slot, a, b, options)))
    return comparisons


def _tensors(plan: ExecutionPlan, ours: Results, other: Results) -> Iterable[tuple[str, int, Array, Array]]:
    """(name, slot, value, other value) of every output and every state."""
    for name, slot, a, b in zip(plan.output_names, plan.output_slots, ours.outputs, other.outputs, strict=True):
        yield name, slot, a, b
    for pair, a, b in zip(plan.state, ours.states, other.states, strict=True):
        yield f"state {plan.slots[pair.state].tensor.name}", pair.source, a, b


def _name(call: int, tensor: str) -> str:
    return f"call {call}, '{tensor}'"


@dataclass(frozen=True)
class _Against:
    """Elements that differ from the reference in all calls, and the first tensor that does."""

    mismatches: int
    first: str
    missing: str = ""


def _told(
    subject: Subject, plan: ExecutionPlan, frames: Frames, steps: Sequence[Results],
    comparisons: Sequence[tuple[str, Comparison]],
) -> FramesReport:  # fmt: skip
    against = _against(subject, plan, frames, steps)
    return FramesReport(
        calls=len(steps),
        first_difference=next((name for name, one in comparisons if not one.match), ""),
        reference="" if against.missing else NAME,
        reference_missing=against.missing,
        reference_mismatches=against.mismatches,
        reference_first=against.first,
    )


def _against(subject: Subject, plan: ExecutionPlan, frames: Frames, steps: Sequence[Results]) -> _Against:
    """The target against ONNX Runtime, which goes on from its own state."""
    total, first = 0, ""
    try:
        if subject.stream is not None:
            return _Against(*whole_differences(subject.source, plan, subject.stream, frames, steps))
        for at, theirs in enumerate(reference_steps(subject.source, plan, frames)):
            for name, slot, a, other in _tensors(plan, steps[at], theirs):
                b = with_padding(plan.slots[slot].tensor, a, other)
                wrong = a.size if a.shape != b.shape else tensor_differing(plan.slots[slot].tensor, a, b)
                total += wrong
                first = first or (_name(at, name) if wrong else "")
    except NoReferenceError as why:
        return _Against(0, "", str(why))
    return _Against(total, first)
