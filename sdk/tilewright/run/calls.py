"""Several calls in one start of a simulator: built, run, held to what was promised, fenced, and what each call cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.report.build import Report
from tilewright.run.build import build
from tilewright.run.compare import Comparison
from tilewright.run.counts import Counts
from tilewright.run.image import Image
from tilewright.run.promises import keep_promises
from tilewright.run.session import report_of, run_fenced
from tilewright.run.simulate import Execution, execute
from tilewright.run.simulator import Simulator, Subject
from tilewright.target import Target

FENCED = 3
"""Calls that are run once more inside the fences."""


@dataclass(frozen=True)
class Called:
    """What the calls brought back, inside which fences the first were run again, and the cost of each call.

    Costs are instructions, or cycles where the simulator models time or a board counts them; empty where no call is
    counted. `image` is None where somebody else built what ran.
    """

    image: Image | None
    execution: Execution
    fences: tuple[str, ...]
    costs: tuple[int, ...]

    @property
    def mean_cost(self) -> int | None:
        """The cost of an average call."""
        return round(sum(self.costs) / len(self.costs)) if self.costs else None


def run_calls(
    simulator: Simulator, subject: Subject, target: Target, work: Path, calls: Sequence[Sequence[bytes]]
) -> Called:
    """Build the project in `work` and run all calls; FenceError where more is touched than is declared or promised."""
    image = build(subject.project, subject.interface, target, work / "plain")
    first, *more = calls
    execution, fences = execute(image, first, more=more, count=simulator.counts(image)), simulator.fences(target)
    keep_promises(subject.placed, image, execution)
    return fenced(simulator, subject, target, work, Called(image, execution, fences, ()), calls)


def fenced(
    simulator: Simulator, subject: Subject, target: Target, work: Path, called: Called, calls: Sequence[Sequence[bytes]]
) -> Called:
    """The calls with their costs, once the first of them have been run inside the fences too."""
    if called.fences:
        first, *more = calls
        traced = build(subject.project, subject.interface, target, work / "traced", trace=True, fence=True)
        run_fenced(subject, traced, first, called.execution, called.fences, more[: FENCED - 1])
    assert called.image is not None
    return replace(called, costs=_costs(simulator, called.image, called.execution))


def report_of_calls(subject: Subject, called: Called, results: Sequence[Comparison]) -> Report:
    """The report of the calls, with the figures of an average one."""
    execution, mean = called.execution, called.mean_cost
    execution = replace(execution, cycles=mean if execution.cycles is not None else None)
    counts = mean_counts(execution.counts, mean, len(execution.steps))
    return report_of(subject, called.image, execution, results, {}, counts, called.fences)


def _costs(simulator: Simulator, image: Image, execution: Execution) -> tuple[int, ...]:
    if execution.counts is not None and execution.counts.calls:
        return execution.counts.calls
    if not any(step.ticks for step in execution.steps):
        return ()
    return tuple(simulator.cost_of(image, step.ticks, step.interrupts) for step in execution.steps)


def mean_counts(counts: Counts | None, mean: int | None, calls: int) -> Counts | None:
    """The counts of an average call."""
    if counts is None or mean is None:
        return None
    cycles = counts.modelled_cycles
    return Counts(mean, modelled_cycles=None if cycles is None else round(cycles / calls), counter=counts.counter)
