"""Some random networks; `ci/fuzz_graphs` runs thousands. TILEWRIGHT_SEED moves the first seed, which is printed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tilewright.conformance.fuzz import fuzz
from tilewright.conformance.graphs import network
from tilewright.conformance.program import STRICT
from tilewright.conformance.subject import load_and_pass, place
from tilewright.plan.execute import run_slots
from tilewright.plugins import platform

FIRST = int(os.environ.get("TILEWRIGHT_SEED", "100000"))


@pytest.mark.parametrize(("quantised", "count"), [(True, 50), (False, 25)], ids=["quantised", "float"])
def test_generated_code_equals_the_semantics(quantised: bool, count: int, tmp_path: Path) -> None:
    print(f"seeds {FIRST} to {FIRST + count - 1}")
    found = fuzz(
        range(FIRST, FIRST + count), platform("generic"), tmp_path, quantised=quantised, flags=("-O1", *STRICT)
    )
    assert not found.differences, "\n".join(found.differences)
    assert found.networks == count
    assert found.layers > 3 * count


def test_networks_are_the_same_for_the_same_seed_and_use_their_codes() -> None:
    assert network(5, quantised=True).SerializeToString() == network(5, quantised=True).SerializeToString()
    used = []
    for seed in range(20):
        plan = place(load_and_pass(network(seed, quantised=True).SerializeToString(), "n"), platform("generic")).plan
        tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
        inputs = [np.random.default_rng(seed).normal(0, 1, t.shape).astype(t.dtype.numpy) for t in tensors]
        for slot, values in zip(plan.slots, run_slots(plan, inputs), strict=True):
            if slot.tensor.quantisation is not None and slot.tensor.elements >= 64:
                used.append(len(np.unique(values)) / min(256, slot.tensor.elements))
    assert np.median(used) > 0.15  # not all saturated
