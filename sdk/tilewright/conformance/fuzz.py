"""Random networks through the whole compiler: the generated C against the plan's NumPy executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.conformance.graphs import network
from tilewright.conformance.kernels import difference
from tilewright.conformance.program import run_batch
from tilewright.conformance.subject import Subject, load_and_pass, place, subject
from tilewright.errors import TilewrightError
from tilewright.plan.execute import run
from tilewright.platform import Platform

_FLOAT_BOUND = 1e-4  # of the largest result, over a chain of layers


@dataclass(frozen=True)
class Fuzzed:
    """What a batch of seeds gave: layers in all, codes or floats compared, and a sentence for each that differs."""

    networks: int
    layers: int
    elements: int
    differences: tuple[str, ...]


def fuzz(
    seeds: Sequence[int], platform: Platform, folder: Path, *, quantised: bool, flags: Sequence[str] = ("-O1",)
) -> Fuzzed:
    """Compile the networks of all seeds into one program, run each twice and compare every output."""
    differences: list[str] = []
    subjects: list[tuple[int, Subject]] = []
    for seed in seeds:
        try:
            subjects.append((seed, _subject(seed, platform, quantised)))
        except TilewrightError as error:
            differences.append(f"seed {seed}: {type(error).__name__}: {error}")
    outcomes = run_batch([network_drawn for _, network_drawn in subjects], folder, flags=flags)
    elements = layers = 0
    for (seed, network_drawn), outcome in zip(subjects, outcomes, strict=True):
        plan = network_drawn.placed.plan
        layers += len(plan.instructions)
        if outcome.failure:
            differences.append(f"seed {seed}: {outcome.failure}")
            continue
        for inputs, results in zip(network_drawn.runs, outcome.runs, strict=True):
            with np.errstate(all="ignore"):
                expected = run(plan, inputs)
            for tensor, got, want in zip(network_drawn.outputs, results, expected, strict=True):
                elements += got.size
                if not quantised and np.allclose(got, want, rtol=_FLOAT_BOUND, atol=1e-6, equal_nan=True):
                    continue  # sums of order one may cancel
                if why := difference(tensor, got, want, 0.0 if quantised else _FLOAT_BOUND):
                    differences.append(f"seed {seed}: '{tensor.name}' {why}")
    return Fuzzed(len(subjects), layers, elements, tuple(differences))


def _subject(seed: int, platform: Platform, quantised: bool) -> Subject:
    proto = network(seed, quantised=quantised)
    model = load_and_pass(proto.SerializeToString(), f"{'q' if quantised else 'f'}{seed}")
    placed = place(model, platform, views=seed % 2 == 1)
    draw = np.random.default_rng(seed)
    shapes = [(placed.plan.slots[s].tensor.shape, placed.plan.slots[s].tensor.dtype) for s in placed.plan.input_slots]
    runs = [[(draw.normal(0, width, shape)).astype(kind.numpy) for shape, kind in shapes] for width in (1.0, 4.0)]
    return subject(placed, platform, runs)
