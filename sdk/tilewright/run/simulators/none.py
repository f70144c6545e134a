"""Boards that are only compiled for."""

from __future__ import annotations

from tilewright.errors import UsageError
from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.simulator import Simulator, Subject
from tilewright.target import Target


class NoSimulator(Simulator):
    """Runs nothing; images are built and measured."""

    def run(self, subject: Subject, target: Target, options: RunOptions) -> Report:
        """UsageError: there is nothing that could."""
        raise UsageError(
            f"target '{target.name}' has no simulator",
            why="its target.toml says so",
            fix="compile for it; --measure tells code and stack",
        )


SIMULATOR = NoSimulator()
