"""What all simulators share that start an image once for each inference."""

from __future__ import annotations

from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.sequence import run_sequence
from tilewright.run.session import run_images
from tilewright.run.simulator import Simulator, Subject
from tilewright.target import Target


class ImageSimulator(Simulator):
    """Builds the project with the harness, starts it, and compares what it computed."""

    def run(self, subject: Subject, target: Target, asked: RunOptions) -> Report:
        """Run once and compare; counted, fenced and profiled as the simulator can and as was asked."""
        run = run_images if asked.frames is None else run_sequence
        return run(self, subject, target, asked)
