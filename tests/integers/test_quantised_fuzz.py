"""Random quantised networks: C against the semantics bit for bit, the semantics against ONNX Runtime.

`TILEWRIGHT_FUZZ` is the number of networks, `TILEWRIGHT_SEED` the first seed; a failure names the seed of its network.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from integers.codes import compare, feeds_for
from integers.random_networks import random_network
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import Subject, load_and_pass, place, subject
from tilewright.model import Array
from tilewright.plan.execute import run
from tilewright.plugins import platform

NETWORKS = int(os.environ.get("TILEWRIGHT_FUZZ", "24"))
FIRST = int(os.environ.get("TILEWRIGHT_SEED", "0"))
BATCH = 100


def _subject(seed: int) -> tuple[Subject, tuple[Array, ...]]:
    generic = platform("generic")
    model = load_and_pass(random_network(seed), f"net_{seed}")
    placed = place(model, generic)
    feeds = feeds_for(model, seed)
    inputs = [feeds[name] for name in model.inputs]
    return subject(placed, generic, [inputs]), run(placed.plan, inputs)


@pytest.mark.parametrize("first", range(FIRST, FIRST + NETWORKS, BATCH))
def test_generated_c_computes_the_semantics(first: int, tmp_path: Path) -> None:
    seeds = range(first, min(first + BATCH, FIRST + NETWORKS))
    made = [_subject(seed) for seed in seeds]
    outcomes = run_batch([each for each, _ in made], tmp_path, flags=("-O0", *STRICT))
    for seed, outcome, (_, expected) in zip(seeds, outcomes, made, strict=True):
        assert outcome.failure == "", f"seed {seed}"
        for got, wanted in zip(outcome.runs[0], expected, strict=True):
            assert np.array_equal(got, wanted), f"seed {seed}"


@pytest.mark.parametrize("first", range(FIRST, FIRST + NETWORKS, BATCH))
def test_the_semantics_equal_onnx_runtime_but_next_to_ties(first: int) -> None:
    for seed in range(first, min(first + BATCH, FIRST + NETWORKS)):
        _, found = compare(random_network(seed), seed=seed)
        assert found.unexplained == 0, f"seed {seed}"
