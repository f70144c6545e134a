"""A training in the simulator: every step's loss and parameters against NumPy's and ONNX Runtime's."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.calls import run_calls
from tilewright.run.frames import Frames
from tilewright.run.sequence import judged, read_step
from tilewright.run.simulator import Subject, simulator_of
from tilewright.run.tool import require_tools
from tilewright.target import Target


@dataclass(frozen=True)
class Trained:
    """The report of the steps, and the loss of each as the target computed it."""

    report: Report
    losses: tuple[float, ...]


def trained(subject: Subject, target: Target, frames: Frames, options: RunOptions) -> Trained:
    """Run the step of a training once for each frame in one start; differences are in the report, not raised."""
    simulator = simulator_of(target)
    require_tools(target)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        calls = [[array.tobytes() for array in frame] for frame in frames]
        called = run_calls(simulator, subject, target, Path(folder), calls)
        report = judged(subject, called, frames, options)
    steps = (read_step(subject.placed, step.outputs, step.state) for step in called.execution.steps)
    return Trained(report, tuple(float(step.outputs[0].item()) for step in steps))
