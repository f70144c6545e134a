"""`--optimize size`: kernels give way to slower ones of less code, where the bytes are worth it.

Layers share the functions of a kernel, so a kernel goes from the whole network or not at all: without it everything is
decided anew, and what that takes of flash is estimated as for `check`. RAM never grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tilewright.binding.prices import Core
from tilewright.codegen.generator import Generator
from tilewright.errors import DoesNotFit, UnsupportedError
from tilewright.report.allowance import estimate
from tilewright.run.simulator import simulator_of
from tilewright.schedule.question import Question
from tilewright.schedule.search import Found

WORTH = 10.0
"""One hundredth of flash may cost so many hundredths of the instructions."""
TRIED = 24
"""Networks that are decided anew at most."""
LARGE = 128
"""Nodes from which on deciding anew takes too long: their weights are most of the flash."""

Answer = Callable[[Question], Found]
"""The search."""


@dataclass(frozen=True)
class _Priced:
    """What a search came to, in bytes of flash with code, bytes of the arena, and estimated instructions."""

    outcome: Found
    flash_bytes: int
    peak_bytes: int
    instructions: float

    def worth(self, before: _Priced) -> float:
        """Hundredths of flash saved by one of instructions, from which on it pays; 0 where it does not."""
        saved = 1.0 - self.flash_bytes / before.flash_bytes
        slower = self.instructions / max(1.0, before.instructions) - 1.0
        if saved <= 0.0 or self.peak_bytes > before.peak_bytes or slower > WORTH * saved:
            return 0.0
        return saved / max(slower, 1e-3)


def with_less_code(outcome: Found, answer: Answer, write_code: Generator) -> Found:
    """What was found; where size is the aim, without the kernels whose code is not worth its bytes."""
    request = outcome.deployment.question.request
    options = request.options
    if options.optimize != "size" or "kernels" in options.disabled_passes or options.program is not None:
        return outcome
    if len(outcome.deployment.bound.nodes) > LARGE or simulator_of(request.target).on_this_machine:
        return outcome
    now, tries = _priced(outcome, write_code), TRIED
    while True:
        others = []
        for question in _without_one(now.outcome):
            if not tries:
                break
            tries -= 1
            try:
                others.append(_priced(answer(question), write_code))
            except (UnsupportedError, DoesNotFit):
                continue  # nothing else computes a node, or nothing as small
        best = max(others, key=lambda one: one.worth(now), default=now)
        if best is now or not best.worth(now):
            return now.outcome
        now = best


def _without_one(outcome: Found) -> Iterator[Question]:
    """The question again without one of the kernels that the answer takes."""
    question = outcome.deployment.question
    request, taken = question.request, {b.kernel.name: b.kernel for b in outcome.deployment.bound.nodes if b.kernel}
    for name in sorted(taken):
        refusal = "--optimize size: others take less flash for what they cost in instructions"
        kernels = tuple(
            replace(one, refusal=refusal) if one.name == name and one.refusal is None else one
            for one in request.kernels
        )
        yield replace(question, request=replace(request, kernels=kernels))


def _priced(outcome: Found, write_code: Generator) -> _Priced:
    """What an answer takes, its code as estimated."""
    request = outcome.deployment.question.request
    artifacts = write_code(outcome.placed, request.levels, request.target.flags)
    code = estimate(request.platform, artifacts, request.target).code
    core = Core(request.platform, request.target.capabilities)
    instructions = sum(
        core.estimated(each.call, each.kernel) for each in outcome.deployment.bound.nodes if each.kernel is not None
    )
    return _Priced(outcome, code + artifacts.constant_bytes, outcome.placed.solution.peak, instructions)
