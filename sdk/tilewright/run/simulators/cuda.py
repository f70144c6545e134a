"""Targets of the platform cuda: a library that this process loads, on a GPU or by the stand-in."""

from __future__ import annotations

from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.cuda import run_on_gpu
from tilewright.run.simulator import Simulator, Subject
from tilewright.target import Target


class Cuda(Simulator):
    """Warms up, captures, replays and compares; there is no image."""

    def run(self, subject: Subject, target: Target, options: RunOptions) -> Report:
        """The report with `run` and `toolchain` filled in."""
        return run_on_gpu(subject, target, options)


SIMULATOR = Cuda()
