"""What all simulators share that start an image once for each inference."""

from __future__ import annotations

from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.data_set import run_samples
from tilewright.run.generate import run_generation
from tilewright.run.samples import read_set
from tilewright.run.sequence import run_sequence
from tilewright.run.session import run_images
from tilewright.run.simulator import Simulator, Subject
from tilewright.target import Target


class ImageSimulator(Simulator):
    """Builds the project with the harness, starts it, and compares what it computed."""

    def run(self, subject: Subject, target: Target, options: RunOptions) -> Report:
        """Run once, or a sequence, or a set of samples, and compare; counted, fenced and profiled as the simulator can
        and as was asked."""
        if options.text is not None:
            return run_generation(self, subject, target, options)
        if options.frames is not None:
            return run_sequence(self, subject, target, options)
        samples = read_set(subject.placed.plan, options)
        if samples is not None:
            return run_samples(self, subject, target, options, samples)
        return run_images(self, subject, target, options)
