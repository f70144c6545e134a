"""A data set on a target that starts images: samples are calls, as many in a start as its files may hold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tilewright.model import Array
from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.calls import Called, report_of_calls, run_calls
from tilewright.run.classes import with_data_set
from tilewright.run.image import Image
from tilewright.run.samples import COMPARED, SampleSet, expected_set, numpy_set, progress_bar
from tilewright.run.session import with_reference, with_simulator
from tilewright.run.simulate import execute
from tilewright.run.simulator import Simulator, Subject
from tilewright.run.slot_comparison import compare_slot
from tilewright.run.tool import require_tools
from tilewright.target import Target

FILE_BYTES = 64 << 20
"""What the inputs and outputs of one start may take: the image reads them from one file and writes them to another."""
MOST_CALLS = 512


def run_samples(
    simulator: Simulator, subject: Subject, target: Target, options: RunOptions, samples: SampleSet
) -> Report:
    """The report of a run over a set: `run` compares the samples of which the outputs are known, and counts those that
    NumPy computed too; the others run uncounted, many in a start."""
    require_tools(target)
    few = min(COMPARED, samples.count)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        called = run_calls(simulator, subject, target, Path(folder), [raw_call(samples, n) for n in range(few)])
        assert called.image is not None
        report = judged_set(subject, options, samples, called, _uncounted(called.image, samples, few))
    return with_simulator(report, target)


def judged_set(
    subject: Subject, options: RunOptions, samples: SampleSet, called: Called, others: Iterable[tuple[bytes, ...]]
) -> Report:
    """The report of the first `COMPARED` samples, which were `called`, and of the outputs of all `others`."""
    plan = subject.placed.plan
    expected = expected_set(plan, options.expect, samples.count) if options.expect else numpy_set(plan, samples)
    outputs = _joined(subject, [*(step.outputs for step in called.execution.steps), *others])
    results = [
        compare_slot(plan, slot, ours[: len(wanted)], wanted, options)
        for slot, ours, wanted in zip(plan.output_slots, outputs, expected, strict=True)
    ]
    report = report_of_calls(subject, called, results)
    if options.expect is None and options.reference:
        report = with_reference(report, subject.source, plan, samples.call(0))
    return with_data_set(report, plan, options, samples, outputs, len(expected[0]))


def _uncounted(image: Image, samples: SampleSet, first_sample: int) -> Iterator[tuple[bytes, ...]]:
    """The outputs of all samples from that one on, many in a start."""
    for start, end in _stretches(image, first_sample, samples.count):
        first, *more = [raw_call(samples, n) for n in range(start, end)]
        for step in execute(image, first, more=more).steps:
            yield step.outputs
        progress_bar(end, samples.count)


def raw_call(samples: SampleSet, number: int) -> list[bytes]:
    """The inputs of one sample as the target reads them."""
    return [values.tobytes() for values in samples.call(number)]


def _stretches(image: Image, start: int, count: int) -> Iterator[tuple[int, int]]:
    """First sample and end of each start."""
    interface = image.interface
    each = sum(interface.inputs) + sum(interface.outputs) + interface.state_bytes + 8
    step = max(1, min(MOST_CALLS, FILE_BYTES // each))
    for at in range(start, count, step):
        yield at, min(at + step, count)


def _joined(subject: Subject, raw: list[tuple[bytes, ...]]) -> tuple[Array, ...]:
    """Every output over all samples."""
    plan = subject.placed.plan
    arrays = []
    for place, slot in enumerate(plan.output_slots):
        tensor = plan.slots[slot].tensor
        flat = np.frombuffer(b"".join(step[place] for step in raw), tensor.dtype.numpy)
        arrays.append(flat.reshape(len(raw), *tensor.shape))
    return tuple(arrays)
