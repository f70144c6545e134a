"""Calibration samples: read, held against the network, and divided into those that are measured and those held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.errors import UsageError
from tilewright.graphs.lower import compile_plan
from tilewright.model import Array, Model
from tilewright.options import RunOptions
from tilewright.run.samples import read_set

FEWEST = 8
"""Samples below which a range is chance."""
EVERY = 5
"""Every so manieth sample is held out."""


@dataclass(frozen=True)
class Samples:
    """`count` samples: [count, ...] of each input by name, and their class numbers where they are known."""

    inputs: Mapping[str, Array]
    labels: Array | None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(next(iter(self.inputs.values())))

    def call(self, sample: int) -> dict[str, Array]:
        """The inputs of one sample by name."""
        return {name: values[sample] for name, values in self.inputs.items()}

    def __iter__(self) -> Iterator[dict[str, Array]]:
        return map(self.call, range(self.count))

    def chosen(self, places: Array) -> Samples:
        """The samples at these places."""
        labels = None if self.labels is None else self.labels[places]
        return Samples({name: values[places] for name, values in self.inputs.items()}, labels)

    def first(self, count: int) -> Samples:
        """So many at the most, spread evenly."""
        if self.count <= count:
            return self
        return self.chosen(np.arange(count) * self.count // count)


@dataclass(frozen=True)
class Division:
    """What ranges and choices are measured on, and what only the result is."""

    measured: Samples
    held_out: Samples


def read_samples(model: Model, file: Path, labels: Path | None) -> Samples:
    """The samples of an .npz file; UsageError where they do not match the inputs, hold NaN, or are too few."""
    plan = compile_plan(model).plan
    samples = read_set(plan, RunOptions(inputs=file, labels=labels), one=True)
    if samples is None or samples.count < FEWEST:
        count = 0 if samples is None else samples.count
        raise UsageError(
            f"{file} holds too few samples to calibrate with",
            why=f"it holds {count}, and ranges of fewer than {FEWEST} are chance",
            fix="pass 100 to 500 samples like the real ones, stacked along a first axis", file=str(file),
        )  # fmt: skip
    names = [plan.slots[slot].tensor.name for slot in plan.input_slots]
    inputs = dict(zip(names, samples.inputs, strict=True))
    for name, values in inputs.items():
        if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            first = int(np.flatnonzero(~finite.reshape(len(values), -1).all(axis=1))[0])
            raise UsageError(
                f"'{name}' in {file} holds a value that is not finite", why=f"sample {first} is the first that does",
                fix="leave such samples out", tensor=name, file=str(file),
            )  # fmt: skip
    return Samples(inputs, samples.labels)


def divided(samples: Samples) -> Division:
    """Every fifth sample is held out, the others are measured."""
    out = np.arange(samples.count) % EVERY == EVERY - 1
    return Division(samples.chosen(np.flatnonzero(~out)), samples.chosen(np.flatnonzero(out)))
