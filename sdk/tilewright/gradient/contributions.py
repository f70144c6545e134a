"""Which layers are worth learning: the loss that steps reach with each of them, against the bytes that learn.

As Lin et al., On-Device Training Under 256KB Memory (NeurIPS 2022), measure contributions: the last layer learns in any
case, and each other one is tried beside it, from the same first values over the same samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.gradient.curves import last_mean, losses_of
from tilewright.gradient.data import frames_of
from tilewright.gradient.training import Training, TrainingWish, layers_of, training
from tilewright.model import Model

MOST_STEPS = 100
"""So many steps are tried at most."""


@dataclass(frozen=True)
class Contribution:
    """A layer's parameters, their bytes, and the loss that is reached where they learn beside the last layer's."""

    parameters: tuple[str, ...]
    size_bytes: int
    loss: float


def contributions(model: Model, wish: TrainingWish, data: Path, steps: int | None) -> Iterator[Contribution]:
    """The last layer alone, then every other layer, from the first on. The data are those of `tilewright train`."""
    *others, last = layers_of(model)
    for layer in ((), *others):
        made = training(model, replace(wish, work=1.0, parameters=(*layer, *last)))
        own = layer or last
        size_bytes = sum(made.step.tensors[name].size_bytes for name in own)
        yield Contribution(own, size_bytes, _reached(made, data, steps))


def by_gain(measured: tuple[Contribution, ...]) -> list[Contribution]:
    """Those of other layers that lower the loss of the last layer alone, the most for a byte first."""
    alone, *others = measured
    useful = [one for one in others if one.loss < alone.loss]
    return sorted(useful, key=lambda one: (one.loss - alone.loss) / one.size_bytes)


def _reached(made: Training, data: Path, steps: int | None) -> float:
    step = made.plain
    frames = frames_of([step.tensors[name] for name in step.given], data, steps)[:MOST_STEPS]
    return last_mean(losses_of(step, frames, "while layers are compared"))
