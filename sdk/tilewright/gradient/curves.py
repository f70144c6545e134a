"""Curves of losses: those of a step in floats by ONNX Runtime, and whether one in integers comes near them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import fmean as mean

from tilewright.errors import MismatchError
from tilewright.frontend.names import quoted
from tilewright.frontend.write import to_onnx
from tilewright.model import Model
from tilewright.plan.execute import first_value, run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.frames import Frames
from tilewright.run.onnx_session import Session

LAST = 3
"""The loss that is reached is the mean of the last of so many parts of the steps."""
FEWEST = 30
"""Fewer steps say nothing."""
EXPLODES = 4
"""A loss of so many times the first one is that of a training that diverges."""


@dataclass(frozen=True)
class Curves:
    """Losses of the same samples: of steps in integers, of steps in floats; and of the last samples in integers with
    the first parameters, where nothing learns.
    """

    integers: tuple[float, ...]
    floats: tuple[float, ...] = ()
    still: tuple[float, ...] = ()

    def verdict(self, name: str) -> MismatchError | None:
        """The error where integers come less than half of the way from their first loss to that which floats reach."""
        if len(self.integers) < FEWEST or not self.floats:
            return None
        reached, wanted, first = last_mean(self.integers), last_mean(self.floats), mean(self.still)
        if first - reached >= (first - wanted) / 2:
            return None
        return MismatchError(
            f"{quoted(name)} does not learn in integers as it does in floats",
            why=f"the mean loss of the last {last_part(self.integers)} steps is {reached:.4f}, in floats {wanted:.4f}, "
            f"without any step {first:.4f}",
            fix="lower --learning-rate, give more samples, or train the float network",
        )


def with_divergence(failure: MismatchError | None, losses: Sequence[float]) -> MismatchError | None:
    """An error of calls that differ, which says so where the losses explode: each step then enlarges what roundings
    differ by, and no two machines end alike."""
    worst = max(range(len(losses)), key=lambda step: losses[step] if isfinite(losses[step]) else inf, default=0)
    if failure is None or not losses or losses[worst] <= EXPLODES * losses[0]:
        return failure
    return MismatchError(
        failure.what,
        why=f"{failure.why}; the loss grows from {losses[0]:.4g} to {losses[worst]:.4g} in step {worst}: this training "
        "diverges, and each step enlarges what roundings differ by",
        fix="lower --learning-rate, and compare again",
    )


def last_part(losses: Sequence[object]) -> int:
    """How many of the losses are the last part."""
    return max(1, len(losses) // LAST)


def last_mean(losses: Sequence[float]) -> float:
    """The mean of the last part."""
    return mean(losses[-last_part(losses) :])


def losses_of(step: Model, frames: Frames, purpose: str) -> tuple[float, ...]:
    """The loss of every step of nodes of the standard."""
    present = [state.present for state in step.states]
    session = Session(to_onnx(step), [step.results[0], *present], purpose)
    held = {state.past: state.initial for state in step.states if state.initial is not None}
    losses = list[float]()
    for frame in frames:
        known = session.run({**held, **dict(zip(step.given, frame, strict=True))})
        held = {state.past: known[state.present] for state in step.states}
        losses.append(float(known[step.results[0]]))
    return tuple(losses)


def losses_at_first(plan: ExecutionPlan, frames: Frames) -> tuple[float, ...]:
    """The loss of every sample with the first parameters, as the NumPy executor computes it."""
    states = [first_value(plan, pair) for pair in plan.state]
    return tuple(float(run_slots(plan, frame, states)[plan.output_slots[0]].item()) for frame in frames)


def held_against(step: Model, plan: ExecutionPlan, frames: Frames, losses: tuple[float, ...]) -> Curves:
    """The losses of steps in integers beside those of `step` in floats, and beside what no step gives."""
    still = losses_at_first(plan, frames[-last_part(frames) :])
    return Curves(losses, losses_of(step, frames, "whose losses integers are held against"), still)
