"""Networks of one image: each built and run alone, then all of them in turn in one start, with what they share.

Of concurrent networks all have their inputs before the first of them runs, and give their outputs after the last.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tilewright.codegen.interface import Interface
from tilewright.memory.needs import Amount, MemoryReport, Places, Program, with_program
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.together import Together
from tilewright.memory.together_levels import with_programs
from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.plan.execute import first_value, run_slots
from tilewright.plugins import platform
from tilewright.report.build import Report
from tilewright.report.calls import FramesReport
from tilewright.run.build import build_together
from tilewright.run.compare import Comparison, outcome
from tilewright.run.frames import Frames, Reference, Results, read_frames
from tilewright.run.image import Image
from tilewright.run.lengths import with_padding
from tilewright.run.measure import beside_data, measure, toolchain
from tilewright.run.reference import NAME, NoReferenceError, tensor_differing
from tilewright.run.session import read_states, run_project, with_simulator
from tilewright.run.simulate import Execution, execute
from tilewright.run.simulator import Subject
from tilewright.run.slot_comparison import compare_slot
from tilewright.target import Target

CALLS = 3
"""Calls of every network in one image where none are asked for."""


@dataclass(frozen=True)
class BundleSubject:
    """What is run: the networks of one project, as they lie together, and the report of all."""

    members: tuple[Subject, ...]
    together: Together
    levels: dict[str, MemoryReport]
    report: Report
    project: Path


def measure_bundle(subject: BundleSubject, target: Target) -> Report:
    """Build every network of a written project and all together; the report with what was measured."""
    each = [measure(one.report, subject.project, one.interface, target) for one in subject.members]
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        image = build_together(subject.project, subject.together.name, batches(subject), target, Path(folder))
    return _measured(subject, each, image)


def run_bundle(subject: BundleSubject, target: Target, options: RunOptions) -> Report:
    """Run and compare each network alone, then all in turn; differences are in the report, not raised."""
    each = [run_project(one, target, options) for one in subject.members]
    together = subject.together
    calls = options.frames if isinstance(options.frames, int) else CALLS
    frames = [read_frames(one.plan, calls, options.seed + number) for number, one in enumerate(together.placed)]
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        image = build_together(subject.project, together.name, batches(subject), target, Path(folder))
        given = [[array.tobytes() for one in frames for array in one[call]] for call in range(calls)]
        execution = execute(image, given[0], more=given[1:])
    steps = [list(_read(together, execution, call)) for call in range(calls)]
    wanted = list(numpy_turns(together, frames))
    comparisons = [
        one for call in range(calls) for one in _compared(together, call, steps[call], wanted[call], options)
    ]
    report = _measured(subject, each, image)
    sizes = image.sizes
    run = replace(
        outcome([one for _, one in comparisons], ()), text_bytes=sizes.text_bytes, rodata_bytes=sizes.rodata_bytes,
        ram_bytes=sizes.ram_bytes, frames=_told(subject, frames, steps, comparisons),
    )  # fmt: skip
    return with_simulator(replace(report, run=run), target)


def batches(subject: BundleSubject) -> tuple[tuple[Interface, ...], ...]:
    """The networks in order, those together of which each may run beside all others."""
    together, groups = subject.together, list[list[int]]()
    for number in range(len(together.placed)):
        if groups and all((other, number) in together.concurrent for other in groups[-1]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return tuple(tuple(subject.members[n].interface for n in group) for group in groups)


def numpy_turns(together: Together, frames: Sequence[Frames]) -> Iterator[list[Results]]:
    """The results of every call of every network in turn, as the NumPy executor computes them with common states."""
    owners = {own: number for number, state in enumerate(together.states) for own in state.owners}
    held: dict[int, Array] = {}
    for call in range(len(frames[0])):
        results = []
        for network, placed in enumerate(together.placed):
            plan, numbers = placed.plan, [owners[network, n] for n in range(len(placed.plan.state))]
            for number, pair in zip(numbers, plan.state, strict=True):
                held.setdefault(number, first_value(plan, pair))
            slots = run_slots(plan, frames[network][call], [held[number] for number in numbers])
            held |= {number: slots[pair.source] for number, pair in zip(numbers, plan.state, strict=True)}
            results.append(Results(tuple(slots[slot] for slot in plan.output_slots), ()))
        ends = [tuple(held[owners[n, p]] for p in range(len(placed.plan.state))) for n, placed in _numbered(together)]
        yield [replace(one, states=states) for one, states in zip(results, ends, strict=True)]


def _numbered(together: Together) -> Iterator[tuple[int, PlacedPlan]]:
    return iter(enumerate(together.placed))


def _read(together: Together, execution: Execution, call: int) -> Iterator[Results]:
    """What the target brought back of one call of every network."""
    step, at = execution.steps[call], 0
    for placed in together.placed:
        results = []
        for slot in placed.plan.output_slots:
            tensor = placed.plan.slots[slot].tensor
            results.append(np.frombuffer(step.outputs[at], tensor.dtype.numpy).reshape(tensor.shape))
            at += 1
        yield Results(tuple(results), tuple(read_states(placed, step.state)))


Named = tuple[str, Comparison]


def _compared(
    together: Together, call: int, ours: Sequence[Results], wanted: Sequence[Results], options: RunOptions
) -> Iterator[Named]:
    """Every output and state of one call, with the words that name it."""
    for network, placed in enumerate(together.placed):
        for name, slot, a, b in _tensors(placed, ours[network], wanted[network]):
            yield _name(call, placed, name), compare_slot(placed.plan, slot, a, b, options)


def _tensors(placed: PlacedPlan, ours: Results, other: Results) -> Iterator[tuple[str, int, Array, Array]]:
    plan = placed.plan
    yield from zip(plan.output_names, plan.output_slots, ours.outputs, other.outputs, strict=True)
    for pair, a, b in zip(plan.state, ours.states, other.states, strict=True):
        yield f"state {plan.slots[pair.state].tensor.name}", pair.source, a, b


def _name(call: int, placed: PlacedPlan, tensor: str) -> str:
    return f"call {call}, '{tensor}' of {placed.plan.name}"


def _told(
    subject: BundleSubject, frames: Sequence[Frames], steps: Sequence[Sequence[Results]], comparisons: Sequence[Named]
) -> FramesReport:
    """Where the calls differ, from NumPy's and from ONNX Runtime's, which goes on from common states too."""
    first = next((name for name, one in comparisons if not one.match), "")
    together, total, other = subject.together, 0, ""
    try:
        references = [Reference.of(one.source, one.placed.plan) for one in subject.members]
        held: dict[str, Array] = {}
        for one in references:
            held = {**one.first(), **held}
        for call, step in enumerate(steps):
            theirs, before = [], held
            for network, reference in enumerate(references):
                result, held = reference.call(frames[network][call], held)
                theirs.append(result)
            theirs = [
                replace(one, states=reference.held(before, held))
                for one, reference in zip(theirs, references, strict=True)
            ]
            for network, placed in _numbered(together):
                for name, slot, a, given in _tensors(placed, step[network], theirs[network]):
                    tensor = placed.plan.slots[slot].tensor
                    b = with_padding(tensor, a, given)
                    wrong = a.size if a.shape != b.shape else tensor_differing(tensor, a, b)
                    total += wrong
                    other = other or (_name(call, placed, name) if wrong else "")
    except NoReferenceError as why:
        return FramesReport(len(steps), first, reference_missing=str(why))
    return FramesReport(len(steps), first, NAME, reference_mismatches=total, reference_first=other)


def _measured(subject: BundleSubject, each: Sequence[Report], image: Image) -> Report:
    """The report of all with code and stack of a build; the deepest stack is that of the networks one by one."""
    rows = with_programs(subject.levels, [one.memory for one in each], subject.together.concurrent)
    places = Places.of(platform(subject.report.platform))
    code, variables = beside_data(rows, places, image)
    program = Program(Amount(code, "measured"), Amount(variables, "measured"), None)
    return replace(
        subject.report, networks=tuple(each), memory=with_program(rows, places, program), toolchain=toolchain(image)
    )
